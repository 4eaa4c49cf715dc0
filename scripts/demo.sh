#!/usr/bin/env bash
# Installs what is missing, builds the library, and shows what three priors make of the same five
# points, one of them an outlier.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{
    if [ -f build/build.ninja ]; then meson configure build -Dexamples=true; else meson setup build; fi
    ninja -C build examples/aggregate
} >"$log" 2>&1 || {
    cat "$log" >&2
    exit 1
}
build/examples/aggregate
