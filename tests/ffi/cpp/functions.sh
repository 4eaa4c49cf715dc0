# A program that calls every function of the C++ binding, and no function of C, needs every symbol
# of the library.
# usage: functions.sh test_cpp_calls
. "$SOURCE_ROOT/tests/support/checks.sh"
source=$SOURCE_ROOT/tests/ffi/cpp/test_cpp_calls.cpp

listed() {
    sed -E '/^(#|$)/d; s/ .*//' "$SOURCE_ROOT/tests/abi/symbols.txt" | sort
}

needed() {
    nm -D --undefined-only "$1" | grep -oE '\bnpagg_[a-z0-9_]+' | sort
}

calls_c() {
    grep -nE '\bnpagg_[a-z0-9_]+ *\(' "$SOURCE_ROOT"/tests/ffi/cpp/{claims,counting,stock}.hpp "$source"
    true
}

check "every public function is reached from C++" diff <(listed) <(needed "$1")
check_silent "and none of them by its C name" calls_c
finish
