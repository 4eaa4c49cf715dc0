# Every public header compiles alone, as C99 and as C++11.
. "$SOURCE_ROOT/tests/support/checks.sh"

compiles() { # language standard header
    printf '#include <%s>\nextern int not_empty;\n' "$3" >"$WORK/alone.c"
    ${CC:-cc} -x "$1" -std="$2" -Wall -Wextra -Wpedantic -Werror -I"$SOURCE_ROOT/include" \
        -fsyntax-only "$WORK/alone.c"
}

for path in "$SOURCE_ROOT"/include/npagg/*.h; do
    header=npagg/$(basename "$path")
    check "$header is C99" compiles c c99 "$header"
    check "$header is C++11" compiles c++ c++11 "$header"
done
finish
