# The count that scripts/test.sh ends with must not hide a failure.
. "$SOURCE_ROOT/tests/support/checks.sh"

log() { # name result stdout
    printf '{"name": "%s", "result": "%s", "stdout": "%s"}\n' "$@"
}

counts() { # wanted line, wanted status, logs...
    local out status
    out=$(python3 "$SOURCE_ROOT/tests/tally.py" "${@:3}")
    status=$?
    echo "$out"
    [ "$(tail -n 1 <<<"$out")" = "$1" ] && [ $status -eq "$2" ]
}

good=$WORK/good
log a OK 'noise\n5 Tests 0 Failures 0 Ignored \nOK' >"$good"
log b OK '3 Tests 0 Failures 0 Ignored\n4 Tests 0 Failures 1 Ignored' >>"$good"
log a FAIL '5 Tests 2 Failures 0 Ignored\nFAIL' >"$WORK/two"
log a FAIL '5 Tests 0 Failures 0 Ignored\nOK' >"$WORK/leak"
log a TIMEOUT '' >"$WORK/timeout"
log a SKIP 'no Julia here\n1 Tests 0 Failures 1 Ignored' >"$WORK/skip"
log a SKIP 'no python3 here' >"$WORK/silent"
unset NPAGG_NO_SKIP
log a ERROR 'x.c:1:test_a:PASS' >"$WORK/crash"
: >"$WORK/empty"

check "every function counts" counts "11 passed, 0 failed, 1 skipped" 0 "$good"
check "a function counts once over builds" \
    counts "11 passed, 0 failed, 1 skipped" 0 "$good" "$good"
check "failures of functions count" counts "3 passed, 2 failed" 1 "$WORK/two"
check "failures of other builds count" \
    counts "11 passed, 2 failed, 1 skipped" 1 "$good" "$WORK/two"
check "a program that fails after its tests is a failure" counts "5 passed, 1 failed" 1 "$WORK/leak"
check "a timeout is a failure" counts "0 passed, 1 failed" 1 "$WORK/timeout"
check "a program that is skipped is none" counts "0 passed, 0 failed, 1 skipped" 0 "$WORK/skip"
check "nor is one that does not count" counts "0 passed, 0 failed, 1 skipped" 0 "$WORK/silent"
check "a crash is a failure" counts "0 passed, 1 failed" 1 "$WORK/crash"
check "a log without runs is a failure" counts "0 passed, 1 failed" 1 "$WORK/empty"
check "a missing log is a failure" counts "0 passed, 1 failed" 1 "$WORK/nowhere"
export NPAGG_NO_SKIP=1
check "where nothing may be skipped it is one" \
    counts "0 passed, 1 failed, 1 skipped" 1 "$WORK/skip"
check "also without counting" counts "0 passed, 1 failed" 1 "$WORK/silent"
check "also in other builds" counts "11 passed, 1 failed, 1 skipped" 1 "$good" "$WORK/skip"
check "a function may be skipped even there" counts "11 passed, 0 failed, 1 skipped" 0 "$good"
finish
