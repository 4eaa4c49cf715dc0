# The example of a training loop stays short, learns, and leaves its model behind.
# usage: train_min.sh the built program
. "$SOURCE_ROOT/tests/support/checks.sh"
program=$(realpath "$1")
cd "$WORK" || exit 1

first_and_last() {
    awk '/^step/ { last = $NF; if (first == "") first = last } END { print first, last }' losses
}

falls() { # by at least this much
    read -r first last < <(first_and_last)
    echo "loss $first at first, $last at last"
    awk -v a="$first" -v b="$last" -v by="$1" 'BEGIN { exit !(a - b >= by) }'
}

check "examples/train_min.c has less than 120 lines" \
    test "$(wc -l <"$SOURCE_ROOT/examples/train_min.c")" -lt 120
"$program" >losses 2>errors
check "it runs to its end" test $? -eq 0
check "it prints no error" test ! -s errors
check "its loss falls by 0.5 at least" falls 0.5
check "it saves its model" test -s train_min.safetensors
finish
