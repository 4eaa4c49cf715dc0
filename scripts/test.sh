#!/usr/bin/env bash
# Installs what is missing, builds the library three ways and tests each: as it is installed, with
# sanitizers, and without SIMD and BLIS. Ends with a line "N passed, M failed", N counting test
# functions once; the exit status is 0 if nothing failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

# run DIR SETUP-OPTIONS... -- TEST-OPTIONS...: configures, builds and tests in DIR. A step that
# fails leaves no test log, which the tally counts.
run() {
    local dir=$1 setup=()
    shift
    while [ "$1" != -- ]; do
        setup+=("$1")
        shift
    done
    shift
    echo "== $dir: ${setup[*]}"
    rm -f "$dir"/meson-logs/testlog*
    if [ -f "$dir/build.ninja" ]; then
        meson configure "$dir" "${common[@]}" "${setup[@]}" || return
    else
        meson setup "$dir" "${common[@]}" "${setup[@]}" || return
    fi
    ninja -C "$dir" || return
    meson test -C "$dir" --no-rebuild --print-errorlogs "$@"
}

scripts/install-deps.sh || {
    echo "0 passed, 1 failed"
    exit 1
}
common=(-Dwerror=true -Dtests=true -Dexamples=true)
run build -Dbuildtype=release -Db_sanitize=none -Dsimd=auto -Dblas=blis --
run build-asan -Dbuildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false -- \
    --setup sanitize
run build-ref -Dsimd=off -Dblas=ref -- --no-suite slow --no-suite style

python3 tests/tally.py build/meson-logs/testlog.json build-asan/meson-logs/testlog-sanitize.json \
    build-ref/meson-logs/testlog.json
