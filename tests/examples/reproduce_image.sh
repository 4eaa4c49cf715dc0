# scripts/reproduce-image.sh with small networks: its tables, what it refuses, and that it goes on after
# it was finished, to more epochs.
# usage: reproduce_image.sh npagg-image
. "$SOURCE_ROOT/tests/support/checks.sh"
program=$(realpath "$1")
cd "$WORK" || exit 1
cat >small <<END
#!/bin/sh
echo \$\$ >"$WORK/pid"
exec "$program" --latent 8 --hidden 8 --layers 3 --decoder-hidden 8 --decoder-layers 2 --batch 50 \
    --eval-samples 5 --watch-tasks 20 "\$@"
END
chmod +x small
export NPAGG_IMAGE=$PWD/small

script=("$SOURCE_ROOT/scripts/reproduce-image.sh" --data synthetic --out "$WORK/my results"
    --models "ba rba np" --samples 2 --tasks 50)
reproduce() {
    "${script[@]}" "$@" >out 2>err
}

refuses() { # text, arguments...
    reproduce "${@:2}"
    [ $? -eq 2 ] && cat out err && [ "$(wc -l <err)" -eq 1 ] && grep -qF -- "$1" err
}
check "nonsense is one line" refuses "--epochs zz: want a whole number" --epochs zz
check "so is none at all" refuses "--threads 0: want a whole number" --threads 0

finishes() { # epochs, steps
    reproduce --epochs "$1" --jobs 2 --threads 1 || { cat out err; return 1; }
    cat out
    for run in ba-1 rba-1 np-1; do
        grep -q "^$run: $2 steps, .* target log-lik. seen" out || return 1
    done
    [ "$(grep -c '^| [a-z]* (1) | .* ± ' "my results/tables.md")" -eq 3 ] && grep -q '^| rba, 10 |' "my results/tables.md"
}
check "three models are trained and evaluated" finishes 1 40
again() {
    reproduce --epochs 1 && cat out && ! grep -q steps out
}
check "once" again
check "other settings are refused" refuses 'was begun with "epochs 1 samples 2' --epochs 1 --samples 3
check "with more epochs they go on" finishes 2 80
kept() {
    ls "my results" "my results/1-epochs"
    awk -F, 'NR > 1 && $5 != 40 { bad = 1 } END { exit bad || NR < 2 }' "my results/1-epochs/ba-1-eval.csv" &&
        [ -e "my results/1-epochs/tables.md" ] && [ -e "my results/1-epochs/ba-1.safetensors" ]
}
check "what was there is kept" kept
told() {
    grep 'ba-1 went on after 1-epochs' "my results/tables.md"
}
check "the tables say so" told
check "and cannot go back" refuses 'was begun with "epochs 2' --epochs 1
# A run that outlives its script keeps the folder.
orphan() {
    rm "my results/ba-1.out"
    "${script[@]}" --epochs 200 --jobs 1 --threads 1 --models ba &
    until grep -q 'goes on after' "my results/ba-1.out" 2>/dev/null; do sleep 0.05; done
    kill -9 $!
    wait $!
    refuses "runs are still going on there" --epochs 300 || return 1
    kill -9 "$(cat pid)"
    flock "my results/lock" true # until the last of them is gone
    [ -e "my results/2-epochs/ba-1.done" ] && [ ! -e "my results/ba-1.done" ]
}
check "a run that outlives the script keeps the folder" orphan
finish
