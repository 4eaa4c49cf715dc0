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

# Those of the variables that are to be whole numbers are.
check_numbers() { # names of options...
    local name
    for name in "$@"; do
        [[ ${!name} =~ ^[1-9][0-9]{0,8}$ ]] || die "--$name ${!name}: want a whole number from 1 to 999999999"
    done
}

# Takes the folder until the script and all runs that it started have ended, also those that outlive
# it. What all runs there have in common is in the file "settings", the length of training first. With
# a larger length they are to go on: what was finished moves to a folder of its own.
take_folder() { # "epochs" or "steps", the others
    local was='' length='' rest=''
    mkdir -p "$out"
    exec 9>"$out/lock"
    flock -n 9 || die "$out: runs are still going on there; wait for them, or stop them"
    if compgen -G "$out/*.safetensors" >/dev/null; then # else nothing came of the settings
        was=$(cat "$out/settings" 2>/dev/null) || die "$out has models, but no file settings that says what they are"
        read -r _ length rest <<<"$was"
        if [[ ! $length =~ ^[0-9]+$ ]] || [ "$rest" != "$2" ] || [ "${!1}" -lt "$length" ]; then
            die "$out was begun with \"$was\"; give the same, or more --$1, or another --out"
        fi
        [ "${!1}" -eq "$length" ] || put_aside "$out/$length-$1"
    fi
    echo "$1 ${!1} $2" >"$out/settings.new"
    mv "$out/settings.new" "$out/settings"
}

# What evaluation and drawing made, and a copy of finished models. Killed within, it is done again:
# nothing is trained before it is complete.
put_aside() { # folder
    local file name
    echo "the runs in $out go on; what it had is in $1"
    mkdir -p "$1"
    for file in "$out"/*.done; do
        [ ! -e "$file" ] || mv "$file" "$1"
    done
    for file in "$1"/*.done; do
        name=$(basename "$file" .done)
        [ ! -e "$file" ] || cp "$out/$name.safetensors" "$out/$name-log.csv" "$1"
    done
    for file in "$out"/*; do
        case $file in
        *-log.csv) ;;
        *.csv | *.md | *.png | *.svg | *.csv.log) mv "$file" "$1" ;;
        esac
    done
}

# Which finished runs went on from a shorter length, under another rate then.
print_history() { # "epochs" or "steps"
    local file name
    for file in "$out"/*-"$1"/*.done; do
        name=$(basename "$file" .done)
        [ ! -e "$out/$name.done" ] || echo "$name went on after $(basename "$(dirname "$file")"), its rate having gone to 0 there."
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

# In the folder, so that its name may have spaces.
plot() { # script, settings
    (cd "$out" && gnuplot -e "${2//"$out/"/}" -c "$here/examples/plots/$1.gp") && return
    echo "the picture failed: $2" >&2
    failed=1
}
