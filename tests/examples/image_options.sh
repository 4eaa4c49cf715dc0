# What npagg-image refuses: nonsense gets one clear line and exit status 2.
# usage: image_options.sh the built program, npagg-regression
. "$SOURCE_ROOT/tests/support/checks.sh"
program=$(realpath "$1")
regression=$(realpath "$2")
cd "$WORK" || exit 1

# Exits with 2, says one line that has this text, and makes no file.
refuses() { # text, arguments...
    local text=$1 status
    shift
    "$program" --data synthetic "$@" >out 2>err
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
nonsense "--gamma: no such option" --gamma 0.1
nonsense "stray: want options only; --eval and --sheet take files" stray
nonsense "want noise, gaussian, shot, impulse, speckle or pixelate" --corrupt fog
for option in epochs image components layers batch tasks sweeps; do
    for value in 0 -3 2.5 many ""; do
        nonsense "--$option $value: want a whole number from" --$option "$value"
    done
done
for value in -1 6 5, x nan; do
    nonsense "--severity $value: want a number from 0 to 5" --severity "$value"
done
for value in 0 -3 501 x 10,; do
    nonsense "--context-sizes $value: want a number from 1 to 500" --context-sizes "$value"
done
nonsense "--severity 2.5: want a whole number" --severity 0,2.5
nonsense "--context-sizes 10.5: want a whole number" --context-sizes 10.5
nonsense "--context-sizes 498: want at most 497" --eval x.st --context-sizes 498
for value in a 3-1 256 0-9, 1-2-3 -1; do
    nonsense "--classes $value: want labels from 0 to 255" --classes "$value"
done
nonsense "the test set has no image of classes 100-120" --classes 100-120
nonsense "--transpose and --no-transpose exclude each other" --transpose --no-transpose
nonsense "--steps and --epochs exclude each other" --steps 3 --epochs 3
nonsense "--layers: npsa wants 3 or more" --model npsa --layers 2
nonsense "--hidden: npsa wants a multiple of --heads" --model npsa --hidden 100
nonsense "--resume wants --checkpoint" --resume
nonsense "--schedule: want at least as many as --steps" --steps 9 --schedule 8
nonsense "--sd-floor 1: want a number from 0 to 0.999" --sd-floor 1
nonsense "--sheet /nowhere/s: cannot write there: No such file or directory" --sheet /nowhere/s x.st
nonsense "--sheet wants one --severity, got 2" --sheet p --severity 1,5 x.st
nonsense "--context-sizes wants one --severity, got 6" --eval x.st --context-sizes 10,20 --corrupt shot
nonsense "--sweeps wants one of --context-sizes, got 2" --eval x.st --sweeps 3 --context-sizes 10,20
nonsense "--eval wants a file" --eval
nonsense "--sheet wants 1 to 8 FILEs" --sheet p
nonsense "nowhere.st" --eval nowhere.st
nonsense "nowhere.st" --sheet p nowhere.st
nonsense "--image 801: there are 800" --sheet p --image 801 nowhere.st
nonsense "--data nowhere: No such file" --data nowhere
nonsense "--data: want the name of a file, got nothing" --data ""

no_data() {
    "$program" --steps 1 2>err
    [ $? -eq 2 ] && grep -q -- '--data is missing; --data synthetic needs no files' err
}
check "without data it says how to do without" no_data

tiny=(--latent 4 --hidden 4 --layers 2 --decoder-hidden 4 --decoder-layers 2 --batch 10 --quiet
    --watch-every 0 --classes 0-3)
"$program" --data synthetic "${tiny[@]}" --steps 2 --checkpoint run.st
nonsense "--steps is 1, but 2 in run.st" --resume --checkpoint run.st --steps 1
nonsense "--lr is 0.1, but 0.0005 in run.st" --resume --checkpoint run.st --lr 0.1
nonsense "--sd-floor is 0.2, but 0.1 in run.st" --eval run.st --sd-floor 0.2
nonsense "--schedule: want at least as many as --steps" --resume --checkpoint run.st --steps 9 --schedule 8
nonsense "--classes is 0-4, but 0-3 in the run" --resume --checkpoint run.st --classes 0-4
nonsense "--model is rba, but ba in run.st" --eval run.st --model rba

"$program" --data synthetic "${tiny[@]}" --classes 0-4 --steps 2 --checkpoint other.st
compares_others() {
    "$program" --data synthetic --quiet --eval run.st other.st --tasks 10 --eval-samples 2 >out 2>err
    [ $? -eq 2 ] && grep -q 'different data' err
}
check "models of other classes are not compared without a word" compares_others

awk 'BEGIN { print "task,x1,x2,y"; for (i = 0; i < 9; i++) print "t," i "," i % 3 "," i }' >points.csv
"$regression" --csv points.csv --latent 4 --hidden 4 --decoder-hidden 4 --steps 2 --quiet --checkpoint points.st
nonsense "points.st is no checkpoint of npagg-image" --resume --checkpoint points.st
nonsense "points.st is no checkpoint of npagg-image" --eval points.st
takes_images() {
    cp run.st copy.st
    "$regression" --csv points.csv --resume --checkpoint run.st 2>err
    [ $? -eq 2 ] && grep -q 'run.st is no checkpoint of npagg-regression' err && cmp run.st copy.st
}
check "npagg-regression takes no checkpoint of npagg-image" takes_images

helps() {
    "$program" --help >help.txt && grep -q 'usage: npagg-image' help.txt &&
        [ "$(awk 'length > 110' help.txt | wc -l)" -eq 0 ] &&
        "$program" --version | grep -q '^npagg-image [0-9]'
}
check "--help and --version are answered" helps
finish
