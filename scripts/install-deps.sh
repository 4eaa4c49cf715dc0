#!/usr/bin/env bash
# Installs what building and testing need; says nothing if it is all there.
#
#   scripts/install-deps.sh              install what is missing (Debian and its relatives)
#   scripts/install-deps.sh --unity-dir  only print where unity.c is, or nothing
#   scripts/install-deps.sh --python     only print a Python that has NumPy and PyTorch, or nothing
#   scripts/install-deps.sh --julia      only print a Julia, 1.5 or newer, or nothing
#
# Two things Debian 12 does not have: Unity, the test framework, which comes out of the package
# cmock of the next release, and Julia, which the release before it had. They are fetched through
# the machine's own mirror and unpacked into a directory of their own. The system's package lists
# and packages stay as they are.
#
# NPAGG_UNITY_DIR   a directory with unity.c and unity.h to use instead
# NPAGG_PYTHON      a Python to use instead of python3
# NPAGG_JULIA       a Julia to use instead of the one in PATH
# NPAGG_DEPS_DIR    where both are unpacked; default ${XDG_CACHE_HOME:-~/.cache}/npagg-deps
set -euo pipefail

DEPS=${NPAGG_DEPS_DIR:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/npagg-deps}
WORK=$(mktemp -d)
fresh= # a directory that has not got its name yet
trap 'rm -rf "$WORK" ${fresh:+"$fresh"}' EXIT

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

python() {
    local python
    for python in "${NPAGG_PYTHON:-}" python3 /usr/bin/python3; do
        if [ -n "$python" ] && "$python" -c 'import numpy, torch' >/dev/null 2>&1; then
            command -v "$python"
            return
        fi
    done
}

julia() {
    local julia version
    for julia in "${NPAGG_JULIA:-}" "$(type -P julia || true)" "$DEPS/julia/julia"; do
        [ -n "$julia" ] || continue
        version=$("$julia" --version 2>/dev/null) || continue
        if [[ $version =~ version\ ([0-9]+)\.([0-9]+) ]] &&
            [ $((BASH_REMATCH[1] * 1000 + BASH_REMATCH[2])) -ge 1005 ]; then
            echo "$julia"
            return
        fi
    done
}

# Names of the packages that would bring what is not there.
missing_packages() {
    local pair
    for pair in gcc:gcc g++:g++ nm:binutils meson:meson ninja:ninja-build pkg-config:pkg-config \
        cmake:cmake python3:python3 clang-format:clang-format luajit:luajit gnuplot:gnuplot-nox; do
        command -v "${pair%%:*}" >/dev/null || echo "${pair##*:}"
    done
    # Without it meson on Debian installs to lib64, where nothing is looked for.
    ! command -v dpkg >/dev/null || command -v dpkg-architecture >/dev/null || echo dpkg-dev
    ctags --version 2>/dev/null | grep -q Universal || echo universal-ctags
    echo '#include <blis.h>' | gcc -E -x c - >/dev/null 2>&1 || echo libblis-dev
    echo '#include <jansson.h>' | gcc -E -x c - >/dev/null 2>&1 || echo libjansson-dev
    echo '#include <zlib.h>' | gcc -E -x c - >/dev/null 2>&1 || echo zlib1g-dev
    [ -n "$(python)" ] || printf '%s\n' python3-numpy python3-torch
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

# derive_sources RELEASE DIR: the machine's own Debian sources, all for that release: same mirrors,
# keys and options.
derive_sources() {
    local file n=0 known='(bullseye|bookworm|trixie|oldoldstable|oldstable|stable)'
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -f "$file" ] || continue
        n=$((n + 1))
        sed -nE "s#^[ \t]*deb([ \t]+\[[^]]*\])?[ \t]+([^ \t]+)[ \t]+$known/?[ \t]+#deb\1 \2 $1 #p" \
            "$file" >"$2/$n.list"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -f "$file" ] || continue
        n=$((n + 1))
        awk -v release="$1" -v known="$known" 'BEGIN { RS = ""; ORS = "\n\n" }
            $0 ~ "(^|\n)Suites:[^\n]*[ \t]" known "([ \t/\n]|$)" {
                sub(/(^|\n)Suites:[^\n]*/, "\nSuites: " release)
                sub(/(^|\n)Types:[^\n]*/, "\nTypes: deb")
                sub(/^\n+/, "")
                print
            }' "$file" >"$2/$n.sources"
    done
    find "$2" -type f -empty -delete
    [ -n "$(ls -A "$2")" ]
}

have_apt() {
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null
}

# apt_for RELEASE: makes "${private[@]}" the options with which apt-get knows that release and
# nothing else, neither the machine's package lists nor what is installed. Fails if there is no
# source to derive from.
apt_for() {
    local apt=$WORK/$1
    mkdir -p "$apt/sources" "$apt/lists/partial" "$apt/cache/archives/partial"
    derive_sources "$1" "$apt/sources" || return
    : >"$apt/status"
    private=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/sources"
        -o "Dir::State::lists=$apt/lists" -o "Dir::State::status=$apt/status"
        -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none
        -o Acquire::Retries=2)
    quietly apt-get "${private[@]}" update || true # one bad mirror among several is no failure
}

# Leaves cmock's .deb in $WORK: from the sources the machine has, else from derived ones.
download_cmock() {
    cd "$WORK"
    quietly apt-get -o APT::Sandbox::User=root download cmock 2>/dev/null && return
    apt_for trixie || die "found no Debian source in /etc/apt to derive from"
    quietly apt-get "${private[@]}" download cmock
}

install_unity() {
    [ -z "$(unity_dir)" ] || return 0
    ! compgen -G "$(dirname "$0")/../subprojects/*nity*" >/dev/null || return 0
    have_apt || die "Unity is missing and there is no apt-get to fetch it with;" \
        "'meson wrap install unity' brings it, or set NPAGG_UNITY_DIR"
    echo "install-deps: fetching Unity into $DEPS/unity"
    (download_cmock) || die "could not download the package cmock, which carries Unity;" \
        "set NPAGG_UNITY_DIR to a directory with unity.c and unity.h"
    dpkg-deb -x "$WORK"/cmock_*.deb "$WORK/cmock"
    mkdir -p "$DEPS"
    rm -rf "$DEPS/unity"
    mv "$WORK/cmock/usr/share/cmock/vendor/unity/src" "$DEPS/unity"
    [ -f "$DEPS/unity/unity.c" ] || die "the package cmock has no Unity in it"
}

# Names of Julia's package and all it depends on, but what a process has from the system whatever
# it runs (the C and C++ runtimes, which only work as a set) and what is no library of Julia's.
julia_packages() {
    apt-get "${private[@]}" install -y --no-install-recommends --print-uris julia |
        sed -nE "s/^'[^']*' ([^_]+)_.*/\1/p" |
        grep -vxE 'libc6|libgcc-s1|libstdc\+\+6|libcrypt1|gcc-[0-9]+-base|dpkg|tar|perl-base|debconf'
}

# unpack_julia DIR: Julia's packages of Debian 11 unpacked there, with a script `julia` that runs
# it. Everything Julia looks for lies relative to its program, but for the loader's path.
unpack_julia() {
    local packages deb libs
    mapfile -t packages < <(julia_packages)
    [ ${#packages[@]} -gt 0 ] || return
    mkdir "$WORK/julia" && cd "$WORK/julia"
    quietly apt-get "${private[@]}" download "${packages[@]}" || return
    for deb in *.deb; do
        dpkg-deb -x "$deb" "$1" || return
    done
    libs=lib/$(basename "$(dirname "$(find "$1/usr/lib" -name 'libjulia.so.1' | head -n 1)")")
    cat >"$1/julia" <<END
#!/bin/sh
# Runs the Julia that lies beside this script. Made by install-deps.sh of libnpagg.
root=\$(dirname "\$(readlink -f "\$0")")
LD_LIBRARY_PATH=\$root/usr/$libs:\$root/usr/$libs/julia:\$root/$libs\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "\$root/usr/bin/julia" "\$@"
END
    chmod +x "$1/julia"
    quietly "$1/julia" --startup-file=no -e 'using Test; @test VERSION >= v"1.5"'
}

# A machine that has no Debian to fetch from is no failure: there the tests of Julia are skipped.
install_julia() {
    [ -z "$(julia)" ] || return 0
    if ! have_apt || ! apt_for bullseye; then
        echo "install-deps: no Julia here, and no Debian source in /etc/apt to fetch it from;" \
            "install Julia 1.5 or newer, or set NPAGG_JULIA, to test its binding" >&2
        return 0
    fi
    echo "install-deps: fetching Julia into $DEPS/julia"
    mkdir -p "$DEPS"
    fresh=$(mktemp -d "$DEPS/julia.XXXXXX")
    (unpack_julia "$fresh") || die "could not unpack Debian 11's package julia and what it needs;" \
        "set NPAGG_JULIA to a Julia 1.5 or newer"
    chmod 755 "$fresh"
    [ -n "$(julia)" ] || rm -rf "$DEPS/julia" # nobody else was faster
    mv -T "$fresh" "$DEPS/julia" 2>/dev/null || [ -n "$(julia)" ] || die "cannot make $DEPS/julia"
}

case "${1:-}" in
--unity-dir) unity_dir ;;
--python) python ;;
--julia) julia ;;
"")
    install_packages
    install_unity
    install_julia
    ;;
*) die "usage: install-deps.sh [--unity-dir | --python | --julia]" ;;
esac
