#!/usr/bin/env bash
# Instructions that a call of some rows takes on one thread, counted by callgrind: a figure that
# does not depend on what else the machine does. Compared with bench/instructions.json; more than
# 3 % more or less is a failure.
#
#   bench/instructions.sh [ROW ...]   counts and compares, all rows of the file or these
#   bench/instructions.sh --update    counts and writes the file
#   bench/instructions.sh --profile ROW   the functions that take most of a row's instructions
#
# Compiler, BLIS and kernels change the counts: where they are not those of the file nothing is
# compared, and the status is 77. (Valgrind shows no AVX-512 to a program, so neither BLIS nor the
# library uses it here.)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
BUILD=build-bench
BASELINE=bench/instructions.json
ROWS=(ba-16x47x128 mba5-16x47x128 rba5-16x47x128 ba-16x47x128-logz rba5-16x47x128-logz
    ba-1x10x128-fwd mba5-1x10x128-fwd rba5-1x10x128-fwd ba-1x10000x16 rba5-1x10000x16
    step-1d-ba-s5 step-1d-mba5-s10 step-1d-rba5-s5)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

die() {
    printf 'instructions: %s\n' "$@" >&2
    exit 1
}

command -v valgrind >/dev/null || die "valgrind is not there (Debian: valgrind)"
[ -f $BUILD/build.ninja ] ||
    meson setup $BUILD -Dbench=true -Dtests=false -Dexamples=false >/dev/null
ninja -C $BUILD >/dev/null || die "the build failed: ninja -C $BUILD"

run_callgrind() { # row; one call is counted, the second: nothing is set up any more
    valgrind --tool=callgrind --toggle-collect=run_counted --callgrind-out-file="$WORK/out" \
        $BUILD/bench/npagg-bench --row "$1" --runs 1 --threads 1 >"$WORK/log" 2>&1 || {
        cat "$WORK/log" >&2
        die "callgrind failed on $1"
    }
}

count() { # row
    run_callgrind "$1"
    sed -n 's/^\(totals\|summary\): //p' "$WORK/out" | head -n 1
}

# What the counts depend on besides our source.
setting() {
    local flag flags=
    for flag in avx2 fma; do
        if grep -qw "$flag" /proc/cpuinfo; then flags+="$flag "; fi
    done
    printf '%skernels, gcc %s, BLIS %s, %s' "$flags" "$(gcc -dumpfullversion)" \
        "$(dpkg-query -W -f '${Version}' libblis-dev 2>/dev/null || echo unknown)" \
        "$(valgrind --version)"
}

write_baseline() { # file with "row count" lines
    printf '{\n  "setting": "%s",\n  "rows": {\n' "$(setting)"
    sed -E 's/^(.*) ([0-9]+)$/    "\1": \2,/; $s/,$//' "$1"
    printf '  }\n}\n'
}

stored() { # row
    sed -nE "s/^ *\"$1\": ([0-9]+),?$/\1/p" $BASELINE
}

if [ "${1:-}" = --profile ]; then
    run_callgrind "${2:?a row}"
    callgrind_annotate "$WORK/out" | sed -n '/Ir/,$p' | head -n 25 | cut -c 1-110
    exit
fi

like=1
if [ $# -gt 0 ] && [ "$1" != --update ]; then ROWS=("$@"); fi
if [ "${1:-}" != --update ]; then
    [ -f $BASELINE ] || die "no $BASELINE; --update writes it"
    if ! grep -qF "\"setting\": \"$(setting)\"" $BASELINE; then
        like=0
        echo "not compared: here $(setting), in the file $(sed -n 's/.*"setting": //p' $BASELINE)"
    fi
fi

status=0
for row in "${ROWS[@]}"; do
    n=$(count "$row")
    echo "$row $n" >>"$WORK/counts"
    if [ "${1:-}" = --update ] || [ $like = 0 ]; then
        printf '%-24s %12d\n' "$row" "$n"
        continue
    fi
    old=$(stored "$row")
    [ -n "$old" ] || die "$BASELINE lacks $row; --update writes it"
    verdict=ok
    if [ $(((n > old ? n - old : old - n) * 100)) -gt $((old * 3)) ]; then
        verdict="more than 3 % off"
        status=1
    fi
    printf '%-24s %12d  was %12d  %+6.2f %%  %s\n' "$row" "$n" "$old" \
        "$(awk "BEGIN { print 100 * ($n / $old - 1) }")" "$verdict"
done
if [ "${1:-}" = --update ]; then
    write_baseline "$WORK/counts" >$BASELINE
elif [ $like = 0 ]; then
    status=77
fi
exit $status
