#!/usr/bin/env bash
# From a fresh clone to pictures in a few minutes: installs what is missing, builds, trains two
# neural processes on 1-D functions, one with Bayesian and one with robust aggregation, and compares
# them on contexts with outliers. What it makes is in demo-out/.
#
# DEMO_STEPS, DEMO_TASKS: other numbers of training steps and of tasks to evaluate on.
set -euo pipefail
export LC_ALL=C.UTF-8 # where numbers have a decimal comma awk would not read ours
cd "$(dirname "$0")/.."

steps=${DEMO_STEPS:-5000}
tasks=${DEMO_TASKS:-2000}
out=demo-out
gammas=0,0.05,0.1,0.15

# Runs a command that is only worth reading when it fails.
quietly() {
    "$@" >"$out/build.log" 2>&1 || {
        cat "$out/build.log" >&2
        exit 1
    }
}

build() {
    if [ -f build/build.ninja ]; then
        quietly meson configure build -Dexamples=true
    else
        quietly meson setup build
    fi
    quietly ninja -C build examples/regression/npagg-regression
}

train() { # model
    build/examples/regression/npagg-regression --model "$1" --steps "$steps" --lr 1e-3 --seed 1 \
        --checkpoint "$out/$1.safetensors" --overwrite --log "$out/$1-log.csv"
}

# Numbers of a function with its context clean and corrupted, as both models see it.
predict() {
    local model
    for model in ba rba; do
        build/examples/regression/npagg-regression --predict "$out/$model-clean" --gamma 0 \
            --task "$1" --context "$2" "$out/$model.safetensors"
        build/examples/regression/npagg-regression --predict "$out/$model-outliers" --gamma 0.15 \
            --task "$1" --context "$2" "$out/$model.safetensors"
    done
}

draw() {
    gnuplot -e "out='$out/predictions'; heading='One function, Bayesian and robust aggregation'; \
        panels='$out/ba-clean $out/rba-clean $out/ba-outliers $out/rba-outliers'; \
        titles='BA, clean context|rBA, clean context|BA, corrupted context|rBA, corrupted context'" \
        -c examples/plots/prediction.gp
    gnuplot -e "out='$out/corruption'; table='$out/table.csv'; models='ba rba'" \
        -c examples/plots/corruption.gp
}

scripts/install-deps.sh
mkdir -p "$out"
echo "building ..."
build
echo "training ba and rba, $steps steps each ..."
train ba
train rba
echo "evaluating ..."
build/examples/regression/npagg-regression --eval --tasks "$tasks" --gamma "$gammas" \
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
