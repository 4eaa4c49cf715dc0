# The tiny model, trained in C and in another language, has the same losses to the last bit.
# usage: tiny.sh the-C-program other-program...
. "$SOURCE_ROOT/tests/support/checks.sh"

"$1" >"$WORK/c" 2>&1
"${@:2}" >"$WORK/other" 2>&1

loss_falls() {
    awk 'NR == 1 { first = $4 } { last = $4 } END { exit !(NR == 11 && last < first - 1) }' "$WORK/c"
}

check "the C program trains" loss_falls
check "the other prints the same bytes" cmp "$WORK/c" "$WORK/other"
finish
