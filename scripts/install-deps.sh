#!/usr/bin/env bash
# Installs what building and testing need; says nothing if it is all there.
#
#   scripts/install-deps.sh              install what is missing (Debian and its relatives)
#   scripts/install-deps.sh --unity-dir  only print where unity.c is, or nothing
#
# Unity, the test framework, comes out of Debian's package cmock, which Debian 12 does not have yet:
# there it is fetched from the next release through the machine's own mirror and unpacked into a
# directory of its own. The system's package lists and packages stay as they are.
#
# NPAGG_UNITY_DIR   a directory with unity.c and unity.h to use instead
# NPAGG_DEPS_DIR    where Unity is unpacked; default ${XDG_CACHE_HOME:-~/.cache}/npagg-deps
set -euo pipefail

DEPS=${NPAGG_DEPS_DIR:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/npagg-deps}
RELEASE=trixie
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

die() {
    printf 'install-deps: %s\n' "$@" >&2
    exit 1
}

# Runs a command that is only worth reading when it fails.
quietly() {
    "$@" >"$WORK/log" 2>&1 || {
        cat "$WORK/log" >&2
        return 1
    }
}

unity_dir() {
    local dir
    for dir in "${NPAGG_UNITY_DIR:-}" "$DEPS/unity" /usr/share/cmock/vendor/unity/src; do
        if [ -n "$dir" ] && [ -f "$dir/unity.c" ]; then
            echo "$dir"
            return
        fi
    done
}

# Names of the packages that would bring what is not there.
missing_packages() {
    local pair
    for pair in gcc:gcc g++:g++ nm:binutils meson:meson ninja:ninja-build pkg-config:pkg-config \
        cmake:cmake python3:python3 clang-format:clang-format; do
        command -v "${pair%%:*}" >/dev/null || echo "${pair##*:}"
    done
    # Without it meson on Debian installs to lib64, where nothing is looked for.
    ! command -v dpkg >/dev/null || command -v dpkg-architecture >/dev/null || echo dpkg-dev
    ctags --version 2>/dev/null | grep -q Universal || echo universal-ctags
    echo '#include <blis.h>' | gcc -E -x c - >/dev/null 2>&1 || echo libblis-dev
    echo '#include <jansson.h>' | gcc -E -x c - >/dev/null 2>&1 || echo libjansson-dev
}

install_packages() {
    local packages
    read -ra packages <<<"$(missing_packages | tr '\n' ' ')"
    [ ${#packages[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null ||
        die "no apt-get here; please install what Debian calls: ${packages[*]}"
    [ "$(id -u)" -eq 0 ] ||
        die "not root; please run as root: apt-get install ${packages[*]}"
    echo "install-deps: installing ${packages[*]}"
    export DEBIAN_FRONTEND=noninteractive
    quietly apt-get update || die "apt-get update failed"
    quietly apt-get install -y --no-install-recommends "${packages[@]}" ||
        die "apt-get install ${packages[*]} failed"
}

# The machine's own package sources, all for the release that has cmock: same mirrors, keys
# and options. $1 is the directory to write them to.
derive_sources() {
    local file n=0
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -f "$file" ] || continue
        n=$((n + 1))
        sed -nE "s#^[ \t]*deb([ \t]+\[[^]]*\])?[ \t]+([^ \t]+)[ \t]+(bookworm|trixie|oldstable|stable)/?[ \t]+#deb\1 \2 $RELEASE #p" \
            "$file" >"$1/$n.list"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -f "$file" ] || continue
        n=$((n + 1))
        awk -v release="$RELEASE" 'BEGIN { RS = ""; ORS = "\n\n" }
            /(^|\n)Suites:[^\n]*[ \t](bookworm|trixie|oldstable|stable)([ \t\/\n]|$)/ {
                sub(/(^|\n)Suites:[^\n]*/, "\nSuites: " release)
                sub(/(^|\n)Types:[^\n]*/, "\nTypes: deb")
                sub(/^\n+/, "")
                print
            }' "$file" >"$1/$n.sources"
    done
    find "$1" -type f -empty -delete
    [ -n "$(ls -A "$1")" ]
}

# Leaves cmock's .deb in $WORK: from the sources the machine has, else from derived ones.
download_cmock() {
    cd "$WORK"
    quietly apt-get -o APT::Sandbox::User=root download cmock 2>/dev/null && return
    mkdir -p sources lists/partial cache/archives/partial
    derive_sources "$WORK/sources" || die "found no Debian source in /etc/apt to derive from"
    local private=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$WORK/sources"
        -o "Dir::State::lists=$WORK/lists" -o "Dir::Cache=$WORK/cache"
        -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=2)
    quietly apt-get "${private[@]}" update || true # one bad mirror among several is no failure
    quietly apt-get "${private[@]}" download cmock
}

install_unity() {
    [ -z "$(unity_dir)" ] || return 0
    ! compgen -G "$(dirname "$0")/../subprojects/*nity*" >/dev/null || return 0
    if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
        die "Unity is missing and there is no apt-get to fetch it with;" \
            "'meson wrap install unity' brings it, or set NPAGG_UNITY_DIR"
    fi
    echo "install-deps: fetching Unity into $DEPS/unity"
    (download_cmock) || die "could not download the package cmock, which carries Unity;" \
        "set NPAGG_UNITY_DIR to a directory with unity.c and unity.h"
    dpkg-deb -x "$WORK"/cmock_*.deb "$WORK/cmock"
    mkdir -p "$DEPS"
    rm -rf "$DEPS/unity"
    mv "$WORK/cmock/usr/share/cmock/vendor/unity/src" "$DEPS/unity"
    [ -f "$DEPS/unity/unity.c" ] || die "the package cmock has no Unity in it"
}

case "${1:-}" in
--unity-dir) unity_dir ;;
"")
    install_packages
    install_unity
    ;;
*) die "usage: install-deps.sh [--unity-dir]" ;;
esac
