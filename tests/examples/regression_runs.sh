# Runs of npagg-regression that are stopped, killed, resumed, made with other threads: they end with
# the same bytes. And runs that go wrong.
# usage: regression_runs.sh the built program
. "$SOURCE_ROOT/tests/support/checks.sh"
program=$(realpath "$1")
cd "$WORK" || exit 1

small=(--latent 8 --hidden 8 --decoder-hidden 8 --steps 600 --lr 3e-3 --log-every 50 --watch-every 200
    --watch-tasks 16 --quiet)

run() { # checkpoint, arguments...
    "$program" "${small[@]}" --checkpoint "$1.st" --log "$1.csv" "${@:2}"
}

same_run() { # two names: the same checkpoint, and the same log but for times
    cmp "$1.st" "$2.st" && cmp <(cut -d, -f1,4- "$1.csv") <(cut -d, -f1,4- "$2.csv")
}

for model in ba mba rba rmba np npsa; do
    args=(--model $model --seed 5)
    check "$model trains" run "$model" "${args[@]}" --threads 1
    run "$model-2" "${args[@]}" --threads 2
    check "$model: two threads give the same bytes as one" same_run $model $model-2
    run "$model-3" "${args[@]}" --stop-at 300 --every 1000
    run "$model-3" "${args[@]}" --resume
    check "$model: stopped at 300 of 600 and resumed, the same bytes" same_run $model $model-3
done
paper() { # name, arguments...
    "$program" --model rba --steps 30 --quiet --watch-every 0 --checkpoint "$1.st" --log "$1.csv" \
        "${@:2}"
}
paper full --threads 1
paper full-2 --threads 2
check "so do networks of the paper's size" same_run full full-2
run other --model rba --seed 6 --threads 1
differ() {
    ! cmp -s rba.st other.st
}
check "another seed gives other bytes" differ

# Losses of the first steps, which every build has within rounding.
near() { # name, step, loss
    awk -F, -v step="$2" -v want="$3" '$1 == step { seen = 1; d = $5 - want }
        END { print "off by " d; exit !(seen && d < 2e-4 && d > -2e-4) }' "$1.csv"
}
learns() { # name
    awk -F, 'NR == 2 { first = $5 } { last = $5 } END { print first, last; exit !(last < first - 0.04) }' "$1.csv"
}
for model in ba mba rba rmba np npsa; do
    check "$model learns" learns $model
done
check "ba: the mean loss of 50 steps is that of other builds" near ba 50 0.9319
check "rba: the mean loss of 50 steps is that of other builds" near rba 50 0.9407
check "rmba: the mean loss of 50 steps is that of other builds" near rmba 50 0.9391

# kill -9, most often in the middle of a save: it saves after every step. A run that gets to its end
# is made again.
killed() {
    local cuts=0 kills=0
    while [ $kills -lt 100 ] && [ $cuts -lt 10 ]; do
        "$program" "${small[@]}" --model rba --seed 5 --checkpoint kill.st --log kill.csv --every 1 \
            --resume &
        sleep "$(awk -v r=$RANDOM 'BEGIN { print 0.02 + r / 32768 * 0.3 }')"
        kill -9 $! 2>/dev/null
        wait $! 2>/dev/null
        [ $? -ne 0 ] || rm -f kill.st kill.csv
        kills=$((kills + 1))
        if compgen -G '*.new' >/dev/null || compgen -G '.npagg-*' >/dev/null; then
            cuts=$((cuts + 1))
            rm -f .npagg-*
        fi
        [ ! -e kill.st ] || "$program" --eval kill.st --tasks 1 --gamma 0 --quiet || return 1
    done
    echo "$cuts of $kills kills came during a save"
    [ $cuts -gt 0 ]
}
check "kills during saves leave a checkpoint that is whole" killed
run kill --model rba --seed 5 --resume
check "and the run goes on to the same bytes" same_run rba kill

interrupted() { # signal, status
    rm -f int.st
    "$program" "${small[@]}" --steps 1000000 --checkpoint int.st --every 1000000 2>err &
    for _ in $(seq 300); do # the first save is made when it listens
        [ ! -e int.st ] || break
        sleep 0.1
    done
    sleep 0.3
    kill -"$1" $!
    wait $!
    local status=$?
    cat err
    [ $status -eq "$2" ] && grep -q "SIG$1 after step [0-9]*; --resume continues int.st" err &&
        "$program" --eval int.st --tasks 1 --gamma 0 --quiet
}
check "SIGINT saves and exits with 130" interrupted INT 130
check "SIGTERM saves and exits with 143" interrupted TERM 143

# Most of this run's time goes into held-out figures.
watched=(--latent 8 --hidden 8 --decoder-hidden 8 --steps 4 --watch-every 1 --watch-tasks 1600 --quiet)
while_watching() {
    "$program" "${watched[@]}" --checkpoint watch.st --log watch.csv
    "$program" "${watched[@]}" --checkpoint cut.st --log cut.csv 2>err &
    for _ in $(seq 300); do
        [ ! -s cut.csv ] || [ "$(wc -l <cut.csv)" -lt 2 ] || break
        sleep 0.05
    done
    kill -INT $!
    wait $!
    [ $? -eq 130 ] || return 1
    cat cut.csv
    "$program" "${watched[@]}" --checkpoint cut.st --log cut.csv --resume && same_run watch cut
}
check "SIGINT during held-out figures does not change them" while_watching

explodes() {
    "$program" "${small[@]}" --lr 1e25 --every 1 --checkpoint bad.st 2>err
    local status=$?
    cat err
    [ $status -eq 1 ] && grep -qE '^npagg-regression: step [0-9]+: .*bad.st has step [0-9]+' err &&
        "$program" --eval bad.st --tasks 1 --gamma 0 --quiet
}
check "a loss that is not finite stops, with the step, and leaves a good checkpoint" explodes

# What cannot be written is told, and the run goes on when it can. ulimit stands for a full disk.
no_room() { # text, KiB, arguments...
    (
        ulimit -f "$2"
        "$program" "${@:3}" 2>err
    )
    local status=$?
    cat err
    [ $status -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "$1" err
}
every=("${small[@]}" --log-every 1 --every 100 --seed 5)
check "a log that cannot grow stops the run" no_room \
    'step [0-9]*: the log cannot be written: File too large; stopped, room.st has step [0-9]00' 20 \
    "${every[@]}" --checkpoint room.st --log room.csv
check "a log that cannot be cut back is kept" no_room 'room.csv cannot be written: File too large' 4 \
    "${every[@]}" --checkpoint room.st --log room.csv --resume
check "a checkpoint that cannot be written stops the run" no_room 'room-2.st could not be saved: .*File too large' 4 \
    "${every[@]}" --checkpoint room-2.st
check "and leaves nothing" test ! -e room-2.st.new
goes_on() {
    "$program" "${every[@]}" --checkpoint room.st --log room.csv --resume &&
        "$program" "${every[@]}" --checkpoint roomy.st --log roomy.csv && same_run roomy room
}
check "with room again it goes on to the same bytes" goes_on
check "so is a picture" no_room 'room-curve.csv could not be written: File too large' 4 \
    --predict room room.st
check "so is a table of sweeps" no_room '/dev/full could not be written: No space left' 100 \
    --eval room.st --tasks 1 --gamma 0 --sweeps 2 --quiet --csv-out /dev/full
full_output() {
    "$program" --help 2>err >/dev/full
    [ $? -eq 1 ] && grep -q 'the output cannot be written' err
}
check "so is what was printed" full_output

# The lines that a terminal of 80 columns shows; the bar's characters are several bytes each.
terminal() {
    script -qec "stty cols 80; '$program' --model rba --steps 100000 --stop-at 600 --checkpoint tty.st \
        --latent 8 --hidden 8 --decoder-hidden 8 --watch-tasks 16 --watch-every 100" /dev/null >tty.txt
    tr '\r' '\n' <tty.txt | LC_ALL=C sed 's/[\x80-\xbf]//g; s/[\xc0-\xff]/#/g; s/\x1b\[K//' >lines.txt
    cat lines.txt
    grep -q '^rba \[##*\] 600/100000, .*, loss .*, target LL ' lines.txt &&
        [ "$(awk 'length > 80' lines.txt | wc -l)" -eq 0 ]
}
if command -v script >/dev/null; then
    check "on a terminal the bar fits into a line" terminal
fi

rises() {
    "$program" --eval rba.st rmba.st --quiet --tasks 64 --gamma 0.15 --sweeps 8 --csv-out sweeps.csv >out
    cat out
    [ "$(grep -c 'the bound fell in 0 of 448 sweeps' out)" -eq 2 ] &&
        awk -F, 'NR > 1 && $1 == name && $6 < last { bad = 1 } { name = $1; last = $6 } END { exit bad }' sweeps.csv
}
check "the bound rises with every sweep on corrupted context" rises

compares() {
    "$program" --eval ba.st rba.st ba-2.st --quiet --tasks 40 --gamma 0,0.15 --csv-out table.csv \
        --task-csv tasks.csv >out
    cat out
    grep -q ' 48 tasks' out && [ "$(grep -c '^ .*±' out)" -eq 6 ] &&
        [ "$(wc -l <table.csv)" -eq 7 ] && [ "$(wc -l <tasks.csv)" -eq 289 ] &&
        awk -F, '$1 == "ba-2" && $18 != 0 { bad = 1 } END { exit bad }' table.csv
}
check "several models are compared on the same tasks" compares
german() { # command...
    LOCPATH=$PWD LC_ALL=de_DE.UTF-8 "$@"
}
same_abroad() {
    average=("$SOURCE_ROOT/examples/plots/average.sh" table.csv rba 12)
    cmp <(sh "${average[@]}") <(german sh "${average[@]}") && sh "${average[@]}" | grep -q '^0.15,-*[0-9]*[.][0-9]' &&
        german "$program" --eval ba.st rba.st ba-2.st --quiet --tasks 40 --gamma 0,0.15 --csv-out german.csv &&
        cmp table.csv german.csv
}
if localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>/dev/null; then
    check "a decimal comma in the locale changes nothing" same_abroad
fi
snapshots() {
    run snap --snapshots 300 --seed 5 && cmp snap.st snap.st.600 && [ -s snap.st.300 ] &&
        ! cmp -s snap.st snap.st.300
}
check "snapshots are kept" snapshots
finish
