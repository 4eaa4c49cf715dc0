# For test scripts: runs checks and counts them, with a summary line in the manner of Unity's.
#
#   check "a sentence that is the claim" command arguments...
#   finish

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
checks=0
failures=0

check() {
    checks=$((checks + 1))
    if "${@:2}" >"$WORK/check.log" 2>&1; then
        echo "PASS: $1"
    else
        failures=$((failures + 1))
        echo "FAIL: $1"
        sed 's/^/    /' "$WORK/check.log"
    fi
}

# A check that passes if the command prints nothing.
check_silent() {
    check "$1" prints_nothing "${@:2}"
}

prints_nothing() {
    local out
    out=$("$@" 2>&1) || { echo "$out"; return 1; }
    echo "$out"
    [ -z "$out" ]
}

finish() {
    echo "$checks Tests $failures Failures 0 Ignored"
    exit $((failures > 0))
}
