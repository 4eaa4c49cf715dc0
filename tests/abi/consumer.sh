# Programs outside the tree, against an installed copy that has been moved: by pkg-config and by
# CMake, shared and static, in C and C++.
. "$SOURCE_ROOT/tests/support/checks.sh"
program=$SOURCE_ROOT/tests/abi/consumer/consumer.c
read -ra cc <<<"${CC:-cc}"

install_copy() {
    DESTDIR=$WORK/destdir meson install -C "$BUILD_ROOT" --no-rebuild --quiet &&
        mv "$WORK/destdir$PREFIX" "$WORK/prefix"
}

uses_shared() {
    readelf -d "$1" | grep NEEDED | grep -q 'libnpagg\.so'
}

is_without_shared() {
    [ -x "$1" ] && ! uses_shared "$1"
}

runs() {
    [ "$(LD_LIBRARY_PATH=$libdir "$1")" = ok ]
}

by_pkg_config_shared() { # program compiler arguments...
    "${@:2}" "$1" $(pkg-config --cflags --libs npagg) -o "$WORK/shared" &&
        uses_shared "$WORK/shared"
}

by_pkg_config_static() {
    "${cc[@]}" -static "$program" $(pkg-config --static --cflags --libs npagg) -o "$WORK/static" &&
        ! readelf -d "$WORK/static" | grep NEEDED
}

binding_of() { # header
    sed "s|<npagg.hpp>|<$1>|" "$SOURCE_ROOT/tests/abi/consumer/binding.cpp" >"$WORK/binding.cpp" &&
        grep -q "<$1>" "$WORK/binding.cpp" &&
        by_pkg_config_shared "$WORK/binding.cpp" c++ -std=c++17 -Wall -Wextra -Werror
}

trains() {
    [ "$(LD_LIBRARY_PATH=$libdir "$1" | grep -c '^step .* loss ')" -eq 11 ]
}

by_cmake() {
    cmake -G Ninja -S "$SOURCE_ROOT/tests/abi/consumer" -B "$WORK/cmake" \
        -DCMAKE_PREFIX_PATH="$WORK/prefix" -DWANTED_VERSION="$(pkg-config --modversion npagg)" &&
        cmake --build "$WORK/cmake"
}

refuses_version() {
    mkdir -p "$WORK/refuse"
    printf 'cmake_minimum_required(VERSION 3.16)\nproject(p NONE)\nfind_package(npagg %s REQUIRED)\n' \
        "$1" >"$WORK/refuse/CMakeLists.txt"
    ! cmake -G Ninja -S "$WORK/refuse" -B "$WORK/refuse/build" -DCMAKE_PREFIX_PATH="$WORK/prefix"
}

check "meson installs the library" install_copy
libdir=$(dirname "$(find "$WORK/prefix" -name libnpagg.a)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
for std in gnu11 c99; do
    check "a $std program builds by pkg-config, shared" \
        by_pkg_config_shared "$program" "${cc[@]}" -std=$std
    check "and runs" runs "$WORK/shared"
done
check "a C++ program builds by pkg-config, shared" \
    by_pkg_config_shared "$program" c++ -std=c++11 -x c++
check "and runs" runs "$WORK/shared"
check "a C program builds by pkg-config, static" by_pkg_config_static
check "and runs" runs "$WORK/static"
check "the program of README.md builds by pkg-config" \
    by_pkg_config_shared "$SOURCE_ROOT/examples/aggregate.c" "${cc[@]}"
check "and runs" env LD_LIBRARY_PATH="$libdir" "$WORK/shared"
for header in npagg.hpp npagg/npagg.hpp; do
    check "a program that includes <$header> builds by pkg-config" binding_of "$header"
    check "and runs" runs "$WORK/shared"
done
check "the tiny model in C++ builds by pkg-config" \
    by_pkg_config_shared "$SOURCE_ROOT/examples/tiny.cpp" c++ -std=c++17
check "and trains" trains "$WORK/shared"
check "programs build by CMake" by_cmake
check "the shared C program of CMake runs" runs "$WORK/cmake/shared"
check "the static C program of CMake runs" runs "$WORK/cmake/static"
check "and needs no libnpagg.so" is_without_shared "$WORK/cmake/static"
check "the shared C++ program of CMake runs" runs "$WORK/cmake/shared_cpp"
check "the C++ binding by CMake runs" runs "$WORK/cmake/binding"
check "CMake refuses a later version" refuses_version 99.0
check "CMake refuses an earlier ABI" refuses_version 0.0.9
finish
