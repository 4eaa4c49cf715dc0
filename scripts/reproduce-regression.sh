#!/usr/bin/env bash
# The paper's 1-D experiments at full length: trains, evaluates, draws. Kill it at any time; started
# again with the same options it goes on where it was. A line per finished run.
#
#   scripts/reproduce-regression.sh [--out DIR] [--steps N] [--seeds N] [--models "ba rba ..."]
#       [--kernels "rbf matern"] [--jobs N] [--threads N] [--data DIR] [--report]
#
#   --out DIR      where it all goes, default results-regression
#   --steps N      of each run, default 100000. With more than a folder was begun with its runs go on,
#                  the rate being that of the longer run from there
#   --seeds N      seeds 1..N of each model, default 1
#   --models       default "ba rba mba rmba np npsa": all kernels of the first two, then of the others
#   --jobs N       runs at a time, default as many as there are processors; --threads: of each, 1
#   --tasks N      to evaluate on, default 5000
#   --data DIR     folder with phones_belgium.csv, ambient_nox_ch_daily.csv and
#                  lynx_hare_1845_1935.csv: draws what the models make of them
#   --report       only print the tables of what is finished
set -euo pipefail
. "$(dirname "$0")/common.sh"

out=results-regression steps=100000 seeds=1 models="ba rba mba rmba np npsa" kernels="rbf matern"
jobs=$(nproc) threads=1 tasks=5000 data='' report=0
gammas=0,0.05,0.08,0.11,0.13,0.15

take_options "out steps seeds models kernels jobs threads tasks data" "$@"
check_numbers steps seeds tasks jobs threads
program=${NPAGG_REGRESSION:-$here/build/examples/regression/npagg-regression}

# One run: training, the table under corruption, figures against sweeps.
one() { # kernel model seed
    local name=$1-$2-$3 model
    model=$out/$name.safetensors
    [ ! -e "$out/$name.done" ] || return 0
    "$program" --kernel "$1" --model "$2" --seed "$3" --steps "$steps" --threads "$threads" \
        --checkpoint "$model" --resume --log "$out/$name-log.csv" --every 500 --snapshots 5000 \
        >"$out/$name.out" 2>&1 || give_up "$name" "$out/$name.out"
    once "$program" --eval "$model" --threads "$threads" --tasks "$tasks" --gamma "$gammas" \
        --quiet --csv-out "$out/$name-eval.csv"
    if [[ $2 != np* ]]; then # those have no sweeps
        once "$program" --eval "$model" --threads "$threads" --tasks 1000 --gamma 0.15 --sweeps 12 \
            --quiet --csv-out "$out/$name-sweeps.csv"
    fi
    if [ "$1" = rbf ] && [ -e "$model.20000" ]; then # the steps of the published comparison
        once "$program" --eval "$model".{5000,10000,15000,20000} --threads "$threads" \
            --tasks "$tasks" --gamma 0,0.05,0.15 --quiet --csv-out "$out/$name-steps.csv"
    fi
    touch "$out/$name.done"
    awk -F, -v name="$name" -v seconds="$(awk -F, 'END { print $2 }' "$out/$name-log.csv")" '
        $7 == 0 { clean = $12 } $7 == 0.15 { corrupted = $12 }
        END { printf "%s: %d steps, %.0f s; target log-lik. %.3f, at gamma 0.15 %.3f\n", name, $5,
            seconds, clean, corrupted }' "$out/$name-eval.csv"
}

# "kernel model seed" of every run, in the order of interest.
list_runs() {
    local seed kernel model
    for seed in $(seq 1 "$seeds"); do
        for group in "ba rba" "mba rmba" "np npsa"; do
            for kernel in $kernels; do
                for model in $group; do
                    [[ " $models " != *" $model "* ]] || echo "$kernel $model $seed"
                done
            done
        done
    done
}

finished() { # kernel, part: files of all finished runs
    local run
    list_runs | while read -r run; do
        [ "${run%% *}" = "$1" ] && [ -e "$out/${run// /-}.done" ] &&
            [ -s "$out/${run// /-}-$2.csv" ] && echo "$out/${run// /-}-$2.csv"
    done
    true
}

# A table of all runs of a kernel in one file, with one header.
join_tables() { # kernel part
    local files
    mapfile -t files < <(finished "$1" "$2")
    [ ${#files[@]} -gt 0 ] || return 0
    awk 'FNR > 1 || NR == 1' "${files[@]}" >"$out/$1-$2.csv"
}

models_of() { # table
    awk -F, -v order="$models" 'NR > 1 { seen[$1] = 1 }
        END { n = split(order, m, " "); for (i = 1; i <= n; i++) if (m[i] in seen) printf "%s ", m[i] }' "$1"
}

draw_kernel() { # kernel
    local k=$1 shown panels=() titles=() logs=() model
    [ -s "$out/$k-eval.csv" ] || return 0
    shown=$(models_of "$out/$k-eval.csv")
    plot corruption "out='$out/$k-corruption'; table='$out/$k-eval.csv'; models='$shown'; \
        heading='$k kernel, corrupted context: y += γ · Student-t(2.1)'"
    awk -F, 'NR == 1 || $3 == 1' "$out/$k-sweeps.csv" >"$out/$k-sweeps-1.csv"
    [[ " $shown" != *" r"* ]] || plot sweeps "out='$out/$k-sweeps'; table='$out/$k-sweeps-1.csv'; models='$shown'; \
        heading='$k kernel, γ = 0.15: what more sweeps bring'"
    for model in $shown; do
        logs+=("$out/$k-$model-1-log.csv")
        "$program" --predict "$out/$k-$model-clean" --gamma 0 --task 24 "$out/$k-$model-1.safetensors"
        "$program" --predict "$out/$k-$model-corrupted" --gamma 0.15 --task 24 \
            "$out/$k-$model-1.safetensors"
    done
    plot learning "out='$out/$k-learning'; logs='${logs[*]}'; models='$shown'; \
        heading='$k kernel: learning curves'"
    for model in ba rba; do
        [ ! -s "$out/$k-$model-clean-curve.csv" ] || panels+=("$out/$k-$model-clean" "$out/$k-$model-corrupted")
        [ ! -s "$out/$k-$model-clean-curve.csv" ] || titles+=("$model, clean|$model, corrupted")
    done
    [ ${#panels[@]} -eq 0 ] || plot prediction "out='$out/$k-predictions'; panels='${panels[*]}'; \
        titles='$(IFS='|'; echo "${titles[*]}")'; heading='$k kernel: one function'"
}

# task,x,y of a column of a real series; dates become days, years of two digits four, what is missing
# is left out.
real_series() { # file column task
    awk -F, -v c="$2" -v task="$3" 'BEGIN { print "task,x,y" }
        NR > 1 && $c != "NA" && $c != "" {
            x = $1
            if (split($1, d, "-") == 3)
                x = NR - 1
            if ($1 < 100 && x == $1)
                x += 1900
            print task "," x "," $c
        }' "$1"
}

draw_real() { # name, scale, heading, xlabel, ylabel, distance of tics
    local model panels=()
    for model in ba rba; do
        [ -e "$out/rbf-$model-1.safetensors" ] || return 0
        "$program" --predict "$out/$1-$model" --csv "$out/$1.csv" --standardise "$2" \
            "$out/rbf-$model-1.safetensors"
        panels+=("$out/$1-$model")
    done
    plot prediction "out='$out/$1'; panels='${panels[*]}'; titles='BA|rBA'; heading='$3'; \
        xlabel='$4'; ylabel='$5'; xtick=$6"
}

# Stretches of about as many points as the models have seen in a context.
draw_all_real() {
    real_series "$data/phones_belgium.csv" 2 phones >"$out/phones.csv"
    draw_real phones robust 'Phone calls in Belgium, 1964 to 1969 recorded in other units' \
        'year' 'calls (millions)' 5
    real_series "$data/lynx_hare_1845_1935.csv" 2 hare | awk -F, 'NR == 1 || $2 > 1890' >"$out/hare.csv"
    draw_real hare moments 'Hares, Hudson Bay Company' year 'pelts (thousands)' 10
    real_series "$data/ambient_nox_ch_daily.csv" 3 nox | awk 'NR <= 47' >"$out/nox.csv"
    draw_real nox robust 'Nitrogen oxides at a Swiss site, winter 2004' 'day of the year' 'NOx (ppb)' 10
}

# Markdown: mean over seeds of a column, ± its standard error.
print_table() { # kernel title column
    local model gamma
    echo "| $1, $2 |$(for gamma in ${gammas//,/ }; do printf ' γ = %s |' "$gamma"; done)"
    echo "|---|$(for gamma in ${gammas//,/ }; do printf -- '---|'; done)"
    for model in $(models_of "$out/$1-eval.csv"); do
        printf '| %s (%d) |' "$model" "$(awk -F, -v m="$model" '$1 == m && $7 == 0' "$out/$1-eval.csv" | wc -l)"
        sh "$here/examples/plots/average.sh" "$out/$1-eval.csv" "$model" "$3" |
            awk -F, '{ printf " %.3f ± %.3f |", $2, $3 } END { print "" }'
    done
    echo
}

# Markdown: figures on the way, of all runs that kept snapshots.
print_steps() {
    local file
    echo "| rbf, model, seed | step | ctx LL | tgt LL | tgt RMSE | tgt LL γ = 0.05 | γ = 0.15 |"
    echo "|---|---|---|---|---|---|---|"
    for file in "$out"/rbf-*-steps.csv; do
        [ ! -s "$file" ] || awk -F, -v name="$(basename "${file%-steps.csv}")" 'NR > 1 {
                step[$5] = 1
                if ($7 == 0) { ctx[$5] = $10; tgt[$5] = $12; rmse[$5] = $16 }
                else if ($7 == 0.05) some[$5] = $12
                else much[$5] = $12
            }
            END { for (s in step) printf "| %s | %d | %.3f | %.3f | %.3f | %.3f | %.3f |\n", name, s,
                ctx[s], tgt[s], rmse[s], some[s], much[s] }' "$file" | sort -t'|' -k3,3n
    done
    echo
}

print_report() {
    local kernel
    for kernel in $kernels; do
        join_tables "$kernel" eval
        join_tables "$kernel" sweeps
        [ -s "$out/$kernel-eval.csv" ] || continue
        print_table "$kernel" "context log-likelihood" 10
        print_table "$kernel" "target log-likelihood" 12
        print_table "$kernel" "target RMSE" 16
    done
    print_steps
    print_history steps
}

for file in phones_belgium ambient_nox_ch_daily lynx_hare_1845_1935; do
    [ -z "$data" ] || [ -r "$data/$file.csv" ] || die "--data $data: no $file.csv there"
done
if [ $report -eq 1 ]; then
    [ -e "$out/settings" ] || die "$out has no runs"
    print_report
    exit
fi
take_folder steps "tasks $tasks"
[ -n "${NPAGG_REGRESSION:-}" ] || build examples/regression/npagg-regression
export out steps threads tasks gammas program
run_all
print_report >"$out/tables.md"
if command -v gnuplot >/dev/null; then
    for kernel in $kernels; do
        draw_kernel "$kernel"
    done
    [ -z "$data" ] || draw_all_real
else
    echo "no gnuplot here: the pictures were skipped"
fi
echo "the tables are in $out/tables.md, the pictures in $out/*.png"
exit $failed
