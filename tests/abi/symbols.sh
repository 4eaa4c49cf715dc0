# The shared library exports what symbols.txt lists, under the soname that version.h asks for.
# usage: symbols.sh libnpagg.so soname
. "$SOURCE_ROOT/tests/support/checks.sh"
list=$SOURCE_ROOT/tests/abi/symbols.txt

listed() {
    sed -E '/^(#|$)/d; s/ .*//' "$list"
}

exported() {
    nm -D --defined-only --format=posix "$1" | cut -d' ' -f1
}

declared() {
    cat "$SOURCE_ROOT"/include/npagg/*.h | tr '\n' ' ' |
        grep -oE 'NPAGG_API [^(]*npagg_[a-z0-9_]+\(' | grep -oE 'npagg_[a-z0-9_]+\(' | tr -d '('
}

same_names() { # list_a list_b
    diff <(sort "$1") <(sort "$2")
}

soname() {
    readelf -d "$1" | sed -nE 's/.*SONAME.*\[(.*)\]/\1/p'
}

exported "$1" >"$WORK/exported"
listed >"$WORK/listed"
declared >"$WORK/declared"
check "exported symbols are those of symbols.txt" same_names "$WORK/listed" "$WORK/exported"
check "declared functions are those of symbols.txt" same_names "$WORK/listed" "$WORK/declared"
check "every symbol has the version that brought it" \
    test "$(grep -cvE '^(#.*|npagg_[a-z0-9_]+ [0-9]+\.[0-9]+\.[0-9]+)?$' "$list")" -eq 0
check "soname is $2" test "$(soname "$1")" = "$2"
finish
