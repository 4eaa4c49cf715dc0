# shellcheck shell=bash disable=SC2034,SC2154
# Read by the other scripts of this folder, not run. $out is where they write, $here the source tree.
export LC_ALL=C.UTF-8 # where numbers have a decimal comma awk would not read ours
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
failed=0 # what the script is to exit with when all else is done

die() {
    echo "$(basename "$0" .sh): $*" >&2
    exit 2
}

# Sets a variable for every option that is given; --report alone has no value.
take_options() { # "names of options" arguments...
    local names=" $1 "
    shift
    while [ $# -gt 0 ]; do
        if [ "$1" = --report ]; then
            report=1
            shift
            continue
        fi
        [[ $1 == --* && $names == *" ${1#--} "* ]] || die "$1: no such option"
        [ $# -gt 1 ] || die "$1: its value is missing"
        declare -g "${1#--}=$2"
        shift 2
    done
}

# Installs what is missing and builds one program; what that prints is only worth reading if it fails.
build() { # target
    "$here/scripts/install-deps.sh"
    {
        if [ -f "$here/build/build.ninja" ]; then
            meson configure "$here/build" -Dexamples=true
        else
            meson setup "$here/build" "$here"
        fi && ninja -C "$here/build" "$1"
    } >"$out/build.log" 2>&1 || {
        cat "$out/build.log" >&2
        exit 1
    }
}

# Says which run did not finish, and why: the last line of what it printed.
give_up() { # run, file
    echo "$1 did not finish: $(tail -n 1 "$2")" >&2
    exit 1
}

# Runs a command that writes to the file in its last argument, which is there only if it finished.
once() { # command... file
    local file=${*: -1}
    [ -s "$file" ] && return
    "${@:1:$#-1}" "$file.part" >"$file.log" 2>&1 || give_up "$(basename "$file")" "$file.log"
    mv "$file.part" "$file"
}

# `one` for every run that list_runs prints, $jobs at a time.
run_all() {
    export -f one once give_up
    list_runs | xargs -r -P "$jobs" -L 1 bash -euo pipefail -c 'one "$@"' one || failed=1
}

plot() { # script, settings
    gnuplot -e "$2" -c "$here/examples/plots/$1.gp" && return
    echo "the picture failed: $2" >&2
    failed=1
}
