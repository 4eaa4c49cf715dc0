# Every C++ header compiles alone, with and without exceptions, as C++17 and C++20, by every
# compiler that is here, and warns of nothing.
. "$SOURCE_ROOT/tests/support/checks.sh"

compiles() { # header compiler arguments...
    printf '#include <%s>\nextern int not_empty;\n' "$1" >"$WORK/alone.cpp"
    "${@:2}" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I"$SOURCE_ROOT/include" \
        -I"$SOURCE_ROOT/bindings/cpp" -fsyntax-only "$WORK/alone.cpp"
}

is_refused() {
    ! compiles "$@"
}

# All functions at once, as somebody strict would compile them.
compiles_calls() { # compiler arguments...
    "$@" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I"$SOURCE_ROOT/include" \
        -I"$SOURCE_ROOT/bindings/cpp" -fsyntax-only "$SOURCE_ROOT/tests/ffi/cpp/test_cpp_calls.cpp"
}

read -ra cxx <<<"${CXX:-c++}"
compilers=("${cxx[*]}")
for other in g++ clang++; do
    if command -v "$other" >/dev/null && [ "${cxx[0]}" != "$other" ]; then
        compilers+=("$other")
    fi
done

for path in "$SOURCE_ROOT"/bindings/cpp/npagg/*.hpp; do
    header=npagg/$(basename "$path")
    check "$header compiles alone" compiles "$header" "${cxx[@]}" -std=c++17
done
for compiler in "${compilers[@]}"; do
    read -ra command <<<"$compiler"
    for std in c++17 c++20; do
        check "npagg.hpp is $std for $compiler" compiles npagg.hpp "${command[@]}" -std=$std
        check "also without exceptions" \
            compiles npagg.hpp "${command[@]}" -std=$std -fno-exceptions -fno-rtti
        check "every function is $std for $compiler" compiles_calls "${command[@]}" -std=$std
    done
done
check "a header that is not there is noticed" is_refused npagg/no_such.hpp "${cxx[@]}" -std=c++17
finish
