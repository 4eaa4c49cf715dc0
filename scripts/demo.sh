#!/usr/bin/env bash
# From a fresh clone to pictures in a few minutes: installs what is missing, builds, trains two
# neural processes on 1-D functions, one with Bayesian and one with robust aggregation, and compares
# them on contexts with outliers. What it makes is in demo-out/.
#
# DEMO_STEPS, DEMO_TASKS: other numbers of training steps and of tasks to evaluate on.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

steps=${DEMO_STEPS:-5000}
tasks=${DEMO_TASKS:-2000}
out=demo-out
program=build/examples/regression/npagg-regression
gammas=0,0.05,0.1,0.15

train() { # model
    "$program" --model "$1" --steps "$steps" --lr 1e-3 --seed 1 \
        --checkpoint "$out/$1.safetensors" --overwrite --log "$out/$1-log.csv"
}

# Numbers of a function with its context clean and corrupted, as both models see it.
predict() {
    local model
    for model in ba rba; do
        "$program" --predict "$out/$model-clean" --gamma 0 \
            --task "$1" --context "$2" "$out/$model.safetensors"
        "$program" --predict "$out/$model-outliers" --gamma 0.15 \
            --task "$1" --context "$2" "$out/$model.safetensors"
    done
}

draw() {
    plot prediction "out='$out/predictions'; heading='One function, Bayesian and robust aggregation'; \
        panels='$out/ba-clean $out/rba-clean $out/ba-outliers $out/rba-outliers'; \
        titles='BA, clean context|rBA, clean context|BA, corrupted context|rBA, corrupted context'"
    plot corruption "out='$out/corruption'; table='$out/table.csv'; models='ba rba'"
}

mkdir -p "$out"
echo "building ..."
build examples/regression/npagg-regression
echo "training ba and rba, $steps steps each ..."
train ba
train rba
echo "evaluating ..."
"$program" --eval --tasks "$tasks" --gamma "$gammas" \
    --csv-out "$out/table.csv" "$out/ba.safetensors" "$out/rba.safetensors"
awk -F, '$1 == "rba" { gamma = $7; by = $18; error = $19 }
    END { printf "\nAt gamma %g the target log-likelihood of rba is %.3f ± %.3f above that of ba, " \
        "%.1f standard errors over the same tasks.\n", gamma, by, error, by / error }' "$out/table.csv"
predict 24 20
if command -v gnuplot >/dev/null; then
    draw
    echo "The table is $out/table.csv, the pictures are $out/predictions.png and $out/corruption.png."
else
    echo "No gnuplot here, so no pictures: skipped $out/predictions.png and $out/corruption.png."
    echo "The table is $out/table.csv, the curves are $out/*-curve.csv."
fi
exit $failed
