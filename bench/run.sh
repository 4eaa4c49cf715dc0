#!/usr/bin/env bash
# Measures libnpagg beside PyTorch, block by block in turns, and how far both are from what the
# machine can do. Writes results.json, table.md and figures into bench-out/.
#
#   bench/run.sh                    everything; use a machine that has nothing else to do
#   bench/run.sh --quick            few short blocks, without the scaling rows: a first look
#   bench/run.sh --rows a,b         only these rows or groups (npagg-bench --list has them)
#   bench/run.sh --blocks N --seconds S --threads N --peer-threads 1,2 --out DIR
#   bench/run.sh --no-peer          without PyTorch
#   bench/run.sh --no-installed     without PyTorch as installed: the tuned one only
#   bench/run.sh --statistic least  the least block instead of the median, if there is other work
#   bench/run.sh --cpu-time         processor time on one thread, likewise
#   bench/run.sh --reuse-limits     the machine's limits from the results.json that is there
#   bench/run.sh --install          first installs the packages that are missing, as root
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
BUILD=build-bench

die() {
    printf 'bench: %s\n' "$@" >&2
    exit 1
}

# A Python that has what measure.py needs.
find_python() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import numpy, torch' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
}

missing_packages() {
    [ -n "$(find_python)" ] || echo python3-torch python3-numpy
    compgen -G '/usr/lib/*/openblas-openmp' >/dev/null || echo libopenblas0-openmp
    command -v gnuplot >/dev/null || echo gnuplot-nox
    command -v valgrind >/dev/null || echo valgrind # for instructions.sh
    echo '#include <blis.h>' | gcc -E -x c - >/dev/null 2>&1 || echo libblis-dev
}

install_packages() {
    local packages
    read -ra packages <<<"$(missing_packages | tr '\n' ' ')"
    [ ${#packages[@]} -gt 0 ] || return 0
    [ "$(id -u)" -eq 0 ] || die "not root; please run as root: apt-get install ${packages[*]}"
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"
}

options=()
for option in "$@"; do
    case $option in
    --install) install_packages ;;
    -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit ;;
    *) options+=("$option") ;;
    esac
done

missing=$(missing_packages | tr '\n' ' ')
[ -z "$missing" ] || echo "bench: missing (Debian's names), --install gets them: $missing" >&2
python=$(find_python)
if [ -z "$python" ]; then
    [[ " ${options[*]-} " == *" --no-peer "* ]] ||
        die "no Python that imports torch and numpy" \
            "packages python3-torch and python3-numpy, or --no-peer"
    python=python3
fi

[ -f $BUILD/build.ninja ] ||
    meson setup $BUILD -Dbench=true -Dtests=false -Dexamples=false >/dev/null
ninja -C $BUILD >/dev/null || die "the build failed: ninja -C $BUILD"
exec "$python" bench/measure.py --bench $BUILD/bench/npagg-bench \
    --limits $BUILD/bench/npagg-limits ${options[@]+"${options[@]}"}
