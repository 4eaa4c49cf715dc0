# What npagg-regression refuses: nonsense gets one clear line and exit status 2.
# usage: regression_options.sh the built program
. "$SOURCE_ROOT/tests/support/checks.sh"
program=$(realpath "$1")
cd "$WORK" || exit 1

# Exits with 2, says one line that has this text, and makes no file.
refuses() { # text, arguments...
    local text=$1 status
    shift
    "$program" "$@" >out 2>err
    status=$?
    cat out err
    [ $status -eq 2 ] || { echo "exit status $status, want 2"; return 1; }
    [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] || { echo "want one line"; return 1; }
    grep -qF -- "$text" err || { echo "want the text: $text"; return 1; }
    [ ! -e new.st ] || { echo "a file was made"; return 1; }
}

nonsense() { # text, arguments...
    check "refused: ${*:2}" refuses "$@"
}

nonsense "--frobnicate: no such option" --frobnicate
nonsense "-x: no such option" -x
nonsense "--steps: its value is missing" --steps
nonsense "--quiet takes no value" --quiet=1
nonsense "stray" stray
nonsense "want ba, mba, rba, rmba, np or npsa" --model cnp
nonsense "want unroll, implicit or last" --grad none
nonsense "want elbo, iwae or ml" --objective loss
nonsense "want rbf or matern" --kernel cosine
nonsense "want none, moments or robust" --standardise yes
for option in components vmp-steps samples latent hidden layers pooled-layers heads decoder-hidden decoder-layers \
    batch every snapshots log-every watch-tasks threads stop-at schedule tasks eval-samples sweeps \
    max-points task context; do
    for value in 0 -3 2.5 many "" 99999999999999999999; do
        nonsense "--$option $value: want a whole number from" --$option "$value"
    done
done
for option in seed steps watch-every eval-seed curves; do
    for value in -1 1e3 x; do
        nonsense "--$option $value: want a whole number from 0" --$option "$value"
    done
done
for value in 0 -1e-3 nan inf fast ""; do
    nonsense "--lr $value: want a number from" --lr "$value"
done
for value in 1 -0.1 nan x ""; do
    nonsense "--sd-floor $value: want a number from 0 to 0.999" --sd-floor "$value"
done
nonsense "--predict nowhere/x: cannot write there" --predict nowhere/x y.st
for value in -0.1 0.1, ,0.1 "0.1 0.2" nan x; do
    nonsense "--gamma $value: want a number from 0" --gamma "$value"
done
for option in checkpoint log csv-out task-csv; do
    nonsense "--$option nowhere/x: cannot write there" --$option nowhere/x --steps 1
done
for option in checkpoint log csv-out task-csv; do
    nonsense "--$option .: cannot write there: it is no file" --$option . --overwrite --steps 1
done
nonsense "--log /dev/null: cannot write there: it is no file" --log /dev/null --steps 1
for option in checkpoint log csv csv-out task-csv predict; do
    nonsense "--$option: want the name of a file, got nothing" --$option ""
done
nonsense "--layers: npsa wants 3 or more" --model npsa --layers 2
nonsense "--hidden: npsa wants a multiple of --heads" --model npsa --hidden 100
nonsense "--resume wants --checkpoint" --resume
nonsense "--stop-at wants --checkpoint" --stop-at 3
nonsense "--snapshots wants --checkpoint" --snapshots 3
nonsense "exclude each other" --resume --overwrite --checkpoint new.st
nonsense "--samples: want at least as many as --components" --model mba --components 6 --samples 5
nonsense "--checkpoint and --log are the same file, new.st" --checkpoint new.st --log new.st
nonsense "--eval wants a file" --eval
nonsense "--predict wants one FILE" --predict p
nonsense "nowhere.st" --eval nowhere.st
nonsense "nowhere.csv cannot be read" --csv nowhere.csv

echo "no checkpoint" >text.st
nonsense "text.st: no checkpoint of this program" --eval text.st
nonsense "text.st: no checkpoint of this program" --resume --checkpoint text.st
nonsense "text.st exists: --resume continues it, --overwrite begins anew" --checkpoint text.st

tiny=(--latent 4 --hidden 4 --decoder-hidden 4 --quiet)
"$program" "${tiny[@]}" --steps 2 --checkpoint run.st
nonsense "--lr is 0.1, but 0.0005 in run.st" --resume --checkpoint run.st --lr 0.1
nonsense "--steps is 1, but 2 in run.st" --resume --checkpoint run.st --steps 1
nonsense "--model is rba, but ba in run.st" --eval run.st --model rba
nonsense "--latent is 8, but 4 in run.st" --eval run.st --latent 8

cp run.st copy.st
nonsense "--csv-out is a FILE that is read, ./run.st" --eval run.st --csv-out ./run.st
nonsense "--csv-out is a FILE that is read, ./run.st" --eval run.st --csv-out ./run.st --sweeps 2
check "and it was not touched" cmp run.st copy.st

# A value of the array "run" of a checkpoint in another's place; 8 bytes from stdin.
damage() { # index, new file
    local header at
    header=$(od -An -t u8 -N 8 run.st | tr -d ' ')
    at=$(head -c $((8 + header)) run.st | grep -ao '"run":{[^}]*"data_offsets":\[[0-9]*' | grep -o '[0-9]*$')
    cp run.st "$2"
    dd of="$2" bs=1 seek=$((8 + header + at + 8 * $1)) conv=notrunc status=none
}
damaged() { # claim, text, index, bytes
    printf '%b' "$4" | damage "$3" damaged.st
    fails() {
        "$program" --resume --checkpoint damaged.st --quiet 2>err
        local status=$?
        cat err
        [ $status -gt 0 ] && [ $status -lt 3 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "$2" err
    }
    check "$1" fails "$@"
}
damaged "a step that is no number is refused" "damaged.st is damaged: step nan" 1 '\0\0\0\0\0\0\xf8\x7f'
damaged "a step below 0 is refused" "damaged.st is damaged: step -2" 1 '\0\0\0\0\0\0\0\xc0'
damaged "half a step is refused" "damaged.st is damaged: step 0.5" 1 '\0\0\0\0\0\0\xe0\x3f'
damaged "a step too large is refused" "damaged.st is damaged: step 1.79" 1 '\xff\xff\xff\xff\xff\xff\xef\x7f'
damaged "losses that are no number are refused" "damaged.st is damaged: losses nan" 2 '\0\0\0\0\0\0\xf8\x7f'

helps() {
    "$program" --help >help.txt && grep -q 'usage: npagg-regression' help.txt &&
        [ "$(awk 'length > 110' help.txt | wc -l)" -eq 0 ] &&
        "$program" --version | grep -q '^npagg-regression [0-9]'
}
check "--help and --version are answered" helps
finish
