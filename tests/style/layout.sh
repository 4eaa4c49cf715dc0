# Sizes of functions and files, names, and which folder of lib/ includes which.
. "$SOURCE_ROOT/tests/support/checks.sh"
cd "$SOURCE_ROOT" || exit 1

# "lines file function" of every function in lib/, shortest first.
function_lengths() {
    ctags -x --kinds-C=f --languages=C --langmap=C:.c.h --_xformat='%n %e %F %N' -R lib |
        awk '{ print $2 - $1 + 1, $3, $4 }' | sort -n
}

longer_than() { # lines, of the functions at or below this share of all
    awk -v limit="$1" -v share="$2" '
        { line[NR] = $0; lines[NR] = $1 }
        END {
            if (NR == 0) { print "no function found"; exit }
            if (share == 1) { for (i = 1; i <= NR; i++) if (lines[i] > limit) print line[i] }
            else if (lines[int((NR - 1) * share) + 1] > limit)
                print lines[int((NR - 1) * share) + 1], "lines, want <=", limit
        }' "$WORK/functions"
}

long_files() {
    find lib include bindings/cpp -regex '.*\.\([ch]\|[ch]pp\)' -exec wc -l {} + | awk '$2 != "total" && $1 >= 400'
}

# One idea, one pair: name.c and name.h, and the name nowhere else in lib/.
repeated_names() {
    find lib -name '*.[ch]' | sed -E 's/\.[ch]$//' | sort -u | sed 's/.*\///' | sort | uniq -d
}

# What each folder may include, directly or through another; itself too.
allowed() {
    case $1 in
    base) echo base ;;
    kernel) echo kernel "$(allowed base)" ;;
    nn) echo nn "$(allowed kernel)" ;;
    encode | decode) echo "$1" "$(allowed nn)" ;;
    pgm) echo pgm "$(allowed kernel)" ;;
    vmp | posterior) echo "$1" "$(allowed pgm)" ;;
    objective) echo objective "$(allowed posterior)" ;;
    model) echo model "$(allowed objective) $(allowed vmp) $(allowed encode) $(allowed decode)" ;;
    io) echo io "$(allowed model)" ;;
    esac
}

forbidden_includes() {
    local dir folder file included
    for dir in lib/*/; do
        folder=$(basename "$dir")
        grep -rnoE '^#include "[^"]+"' "$dir" --include='*.[ch]' | while IFS=: read -r file _ included; do
            included=$(sed -E 's/.*"(.*)"/\1/' <<<"$included")
            [ -f "lib/$included" ] || echo "$file: \"$included\" is not a path below lib/"
            [[ " $(allowed "$folder") " == *" ${included%%/*} "* ]] || echo "$file includes $included"
        done
    done
}

unexplained_folders() {
    local dir
    for dir in lib/*/; do
        grep -q "^| \`$(basename "$dir")/\`" lib/README.md || echo "lib/README.md lacks $dir"
    done
}

addresses() {
    grep -rnE 'https?:/' scripts .ci
    true
}

function_lengths >"$WORK/functions"
check_silent "no function has more than 60 lines" longer_than 60 1
check_silent "nine in ten functions have at most 30 lines" longer_than 30 0.9
check_silent "half of the functions have at most 12 lines" longer_than 12 0.5
check_silent "files of lib/ and include/ have less than 400 lines" long_files
check_silent "names of files in lib/ are unique" repeated_names
check_silent "folders of lib/ include only downwards" forbidden_includes
check_silent "every folder of lib/ is explained" unexplained_folders
check_silent "scripts fetch through package managers, not from addresses" addresses
finish
