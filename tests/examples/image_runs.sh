# Runs of npagg-image that are stopped, resumed, made with other threads: they end with the same
# bytes. What they learn, and what is evaluated and drawn.
# usage: image_runs.sh the built program
. "$SOURCE_ROOT/tests/support/checks.sh"
program=$(realpath "$1")
cd "$WORK" || exit 1

small=(--data synthetic --latent 8 --hidden 8 --layers 3 --decoder-hidden 8 --decoder-layers 2
    --batch 20 --lr 5e-3 --samples 3 --components 2 --log-every 10 --watch-every 30 --watch-tasks 20
    --eval-samples 5 --quiet)

run() { # checkpoint, arguments...
    "$program" "${small[@]}" --checkpoint "$1.st" --log "$1.csv" "${@:2}"
}

same_run() { # two names: the same checkpoint, and the same log but for times
    cmp "$1.st" "$2.st" && cmp <(cut -d, -f1,4- "$1.csv") <(cut -d, -f1,4- "$2.csv")
}

learns() { # name
    awk -F, 'NR == 2 { first = $5 } { last = $5 } END { print first, last; exit !(last < first - 0.1) }' "$1.csv"
}

for model in ba mba rba rmba np npsa; do
    args=(--model $model --seed 5 --epochs 1)
    check "$model trains" run "$model" "${args[@]}" --threads 1
    check "$model learns" learns $model
    run "$model-2" "${args[@]}" --threads 2
    check "$model: two threads give the same bytes as one" same_run $model $model-2
    run "$model-3" "${args[@]}" --stop-at 43 --every 1000
    run "$model-3" --model $model --seed 5 --resume
    check "$model: stopped at 43 and resumed, the same bytes" same_run $model $model-3
done

an_epoch() {
    awk -F, 'END { print $1; exit $1 != 100 }' ba.csv
}
check "an epoch is as many steps as batches" an_epoch
in_steps() {
    run steps --model ba --seed 5 --steps 100 && cmp <(cut -d, -f1,4- ba.csv) <(cut -d, -f1,4- steps.csv)
}
check "--steps may say the same as --epochs" in_steps

# A run goes on to more steps. Under a schedule that was as long from the beginning it has the same
# bytes as one that was never to end before; else the rate is that of the longer run from there.
run short --model rba --seed 5 --steps 40 --schedule 100 --every 1000
run short --model rba --seed 5 --steps 100 --resume
run whole --model rba --seed 5 --steps 100 --schedule 100
same_model() { # two names; one log has held-out figures that the other lacks
    cmp "$1.st" "$2.st" && cmp <(cut -d, -f1,4,5 "$1.csv") <(cut -d, -f1,4,5 "$2.csv")
}
check "40 steps of a schedule of 100 go on to 100 with the same bytes" same_model short whole
longer() {
    run more --model ba --seed 5 --epochs 1 && run more --model ba --seed 5 --epochs 2 --resume &&
        run twice --model ba --seed 5 --epochs 2 || return 1
    cmp <(head -n 11 more.csv | cut -d, -f1,4,5) <(head -n 11 ba.csv | cut -d, -f1,4,5) &&
        cmp <(tail -n +12 more.csv | cut -d, -f1,4) <(tail -n +12 twice.csv | cut -d, -f1,4) &&
        tail -n 1 more.csv | grep '^200,'
}
check "an epoch goes on to two, with the rate of two from there" longer
# Said once it is known, also if no step follows.
remembers() {
    run more --model ba --seed 5 --epochs 3 --resume --stop-at 10 && run more --model ba --seed 5 --resume --stop-at 210 &&
        tail -n 1 more.csv | cut -d, -f1 | grep -x 210
}
check "a longer length is kept even if no step follows" remembers
fewer() { # arguments...
    run steps --model ba --seed 5 --resume "$@" 2>err
    [ $? -eq 2 ] && cat err && [ "$(wc -l <err)" -eq 1 ]
}
run steps --model ba --seed 5 --steps 150 --overwrite
check "but not to fewer" fewer --steps 149
check "nor to fewer in epochs" fewer --epochs 1
tells() {
    run more --model ba --epochs 4 --stop-at 211 --resume --quiet 2>err && [ ! -s err ] || return 1
    "$program" --data synthetic --checkpoint more.st --resume --stop-at 212 2>err
    cat err
    grep -q '^more.st goes on after step 211 of 400, the rate is 0.00' err
}
check "it says where a run goes on, unless it is to be quiet" tells

interrupted() { # signal, status
    "$program" "${small[@]}" --model rba --seed 5 --epochs 1 --checkpoint "int-$1.st" --log "int-$1.csv" \
        --every 1000 &
    while ! grep -q '^10,' "int-$1.csv" 2>/dev/null; do sleep 0.01; done
    kill "-$1" $!
    wait $!
    [ $? -eq "$2" ] && run "int-$1" --model rba --seed 5 --resume && same_run "int-$1" rba
}
check "SIGINT saves, and the run goes on to the same bytes" interrupted INT 130
check "so does SIGTERM" interrupted TERM 143

paper() { # name, arguments...
    "$program" --data synthetic --model rba --samples 2 --batch 10 --steps 4 --quiet --watch-every 0 \
        --checkpoint "$1.st" --log "$1.csv" "${@:2}"
}
paper full --threads 1
paper full-2 --threads 2
check "networks of the paper's size: two threads give the same bytes" same_run full full-2
counts() { # model, parameters, arguments...
    "$program" --data synthetic --steps 0 --watch-every 0 --model "$1" "${@:3}" 2>&1 |
        grep "^$1: $2 parameters in encoder and decoder"
}
check "there are as many parameters as the paper's text says" counts ba 141954
check "and as its table says" counts ba 166914 --hidden 128 --layers 3
check "np has as many as the paper's" counts np 248962
check "npsa has as many as the paper's" counts npsa 282114

evaluates() { # text, arguments...; table.csv has a line for each
    "$program" "${small[@]}" --tasks 60 --csv-out table.csv --task-csv tasks.csv --eval "${@:2}" >out
    cat out
    grep -q -- "$1" out
}
check "seen and unseen classes are evaluated" evaluates ', 60 seen, 60 unseen tasks' ba.st rba.st
tables() { # lines of table.csv and tasks.csv
    wc -l table.csv tasks.csv
    [ "$(wc -l <table.csv)" -eq "$1" ] && [ "$(wc -l <tasks.csv)" -eq "$2" ]
}
check "with a line for each in the tables" tables 5 241
check "at severities" evaluates severity ba.st --corrupt noise --severity 0,3,5
check "again with a line for each" tables 7 361
names_corruption() {
    awk -F, 'NR > 1 && $24 != ($7 > 0 ? "noise" : "none") { bad = 1 } END { exit bad }' table.csv
}
check "which says what the corruption is" names_corruption
one_batch() {
    evaluates severity ba.st --tasks 20 && awk -F, 'NR > 1 && ($13 == "" || $17 != "") { bad = 1 } END { exit bad }' table.csv
}
check "the error of one batch's RMSE is not known" one_batch
check "at all severities if none is given" evaluates severity ba.st --corrupt pixelate
check "which are six" tables 13 721
check "at context sizes" evaluates context ba.st --context-sizes 10,100,400
sizes() {
    tables 7 361 && awk -F, 'NR > 1 && ($4 != $2 || $5 < 3 || $4 + $5 > 500) { bad = 1 } END { exit bad }' tasks.csv
}
check "which are those of every task" sizes
check "mixtures go by their components" evaluates '^mba2 is mba.st' mba.st ba.st
all_images() {
    "$program" "${small[@]}" --eval-samples 1 --batch 64 --eval ba.st >out
    cat out
    grep -q ', 500 seen, 300 unseen tasks' out
}
check "all images are evaluated on if nothing else is said, the last batch being smaller" all_images

# Against the noisy values the error would be larger by sqrt(0.07 0.5) or so.
clean_truth() {
    evaluates severity ba.st --corrupt impulse --severity 0,5 --tasks 500 &&
        awk -F, '$20 == "seen" { rmse[$7] = $14 }
            END { by = rmse[5] - rmse[0]; print by; exit !(by < 0.01 && by > -0.01) }' table.csv
}
check "figures of noisy context are held against clean values" clean_truth

rises() {
    evaluates 'the bound fell in 0 of 420 sweeps' rba.st --severity 5 --sweeps 8 &&
        [ "$(wc -l <table.csv)" -eq 17 ] &&
        awk -F, 'NR > 1 && $13 == group && $6 < last { bad = 1 } { group = $13; last = $6 } END { exit bad }' table.csv
}
check "the bound rises with every sweep, of seen and unseen classes" rises

no_sweeps() {
    "$program" "${small[@]}" --eval npsa.st --sweeps 3 2>err
    [ $? -eq 2 ] && cat err && grep -q "npsa.st: npsa has no sweeps" err
}
check "npsa has no sweeps to show" no_sweeps
no_sweeps_at_all() {
    "$program" "${small[@]}" --eval rba.st np.st --sweeps 3 >out 2>err
    [ $? -eq 2 ] && cat out err && [ ! -s out ] && grep -q "np.st: np has no sweeps" err
}
check "which it says before it computes" no_sweeps_at_all

draws() {
    "$program" "${small[@]}" --sheet sheet --corrupt impulse --severity 5 --image 7 ba.st rba.st || return 1
    wc -l sheet.csv sheet-labels.csv
    # context, 4 and 5 columns, the image; gaps of 2 within and 8 between models; 8 rows
    [ "$(wc -l <sheet.csv)" -eq $((1 + (11 * 28 + 7 * 2 + 3 * 8) * (8 * 28 + 7 * 2 + 8))) ] &&
        [ "$(grep -c ',column,' sheet-labels.csv)" -eq 11 ] && [ "$(grep -c ',row,' sheet-labels.csv)" -eq 8 ]
}
check "a sheet has its columns and rows" draws
missing() { # in a row of the sheet (28 lines): pixels of the context column that are there
    awk -F, -v from="$1" '$1 < 28 && $2 >= from && $2 < from + 28 && $3 == 1' sheet.csv | wc -l | grep -qx "$2"
}
check "its first row shows 10 pixels" missing 0 10
check "its fourth row shows 400" missing 90 400
opens() {
    gnuplot -e "out='sheet'; sheet='sheet'" -c "$SOURCE_ROOT/examples/plots/sheet.gp" || return 1
    [ "$(head -c 8 sheet.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] &&
        tail -c 8 sheet.png | head -c 4 | grep -q IEND && [ "$(wc -c <sheet.png)" -gt 5000 ]
}
if command -v gnuplot >/dev/null; then
    check "its picture is a whole PNG" opens
else
    echo "SKIP: its picture is a whole PNG: no gnuplot"
fi
finish
