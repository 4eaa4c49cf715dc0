#!/usr/bin/env bash
# The paper's image experiments: trains, evaluates, draws. Kill it at any time; started again with the
# same options it goes on where it was. A line per finished run.
#
#   scripts/reproduce-image.sh --data DIR [--out DIR] [--epochs N] [--seeds N] [--models "ba mba5 ..."]
#       [--samples S] [--tasks N] [--jobs N] [--threads N] [--report]
#
#   --data DIR     folder with images in the format IDX, as npagg-image's --data
#   --out DIR      where it all goes, default results-image
#   --epochs N     of each run, over which the rate goes to 0; default 200. With more than a folder was
#                  begun with its runs go on, the rate being that of the longer run from there
#   --seeds N      seeds 1..N of each model, default 1
#   --models       default "ba mba5 rba np npsa mba2 mba3"; mba5 is mba with 5 components
#   --samples S    of z in training, default 10: every row of a table has the same
#   --tasks N      images of each group for the figures against corruption, context size and sweeps,
#                  default 1000; the table of seen and unseen classes takes all images
#   --jobs N       runs at a time, default 1; --threads: of each, default as many as processors
#   --report       only print the tables of what is finished
set -euo pipefail
. "$(dirname "$0")/common.sh"

data='' out=results-image epochs=200 seeds=1 models="ba mba5 rba np npsa mba2 mba3" samples=10
tasks=1000 jobs=1 threads=$(nproc) report=0
severities=0,1,2,3,4,5 sizes=10,25,50,100,150,200,300,400 sweeps=10

take_options "data out epochs seeds models samples tasks jobs threads" "$@"
check_numbers epochs seeds samples tasks jobs threads
program=${NPAGG_IMAGE:-$here/build/examples/image/npagg-image}

# Training as far as it is not done; "mba5" is --model mba --components 5.
train() { # model seed
    local word=${1%%[0-9]*} k=${1##*[a-z]} name=$1-$2
    "$program" --data "$data" --model "$word" ${k:+--components "$k"} --seed "$2" --samples "$samples" \
        --epochs "$epochs" --threads "$threads" --checkpoint "$out/$name.safetensors" --resume \
        --log "$out/$name-log.csv" --every 60 >"$out/$name.out" 2>&1
}

# One run: training, the table, figures against corruption, context size and sweeps.
one() { # model seed
    local name=$1-$2 eval
    [ ! -e "$out/$name.done" ] || return 0
    train "$1" "$2" || give_up "$name" "$out/$name.out"
    eval=("$program" --data "$data" --eval "$out/$name.safetensors" --threads "$threads" --quiet)
    once "${eval[@]}" --csv-out "$out/$name-eval.csv"
    once "${eval[@]}" --tasks "$tasks" --corrupt noise --severity $severities --csv-out "$out/$name-noise.csv"
    once "${eval[@]}" --tasks "$tasks" --corrupt pixelate --severity $severities --csv-out "$out/$name-pixelate.csv"
    once "${eval[@]}" --tasks "$tasks" --context-sizes $sizes --csv-out "$out/$name-sizes.csv"
    case $1 in # one sweep is all that mixtures have, and baselines have none
    ba | rba | rmba*) once "${eval[@]}" --tasks "$tasks" --corrupt noise --severity 5 --sweeps $sweeps \
        --csv-out "$out/$name-sweeps.csv" ;;
    esac
    touch "$out/$name.done"
    awk -F, -v name="$name" -v seconds="$(awk -F, 'END { print $2 }' "$out/$name-log.csv")" '
        NR > 1 { ll[$20] = $12 }
        END { printf "%s: %d steps, %.0f s; target log-lik. seen %.3f", name, $5, seconds, ll["seen"]
            if ("unseen" in ll) printf ", unseen %.3f", ll["unseen"]
            print "" }' "$out/$name-eval.csv"
}

# "model seed" of every run, first seeds first.
list_runs() {
    local seed model
    for seed in $(seq 1 "$seeds"); do
        for model in $models; do
            echo "$model $seed"
        done
    done
}

finished() { # part: files of all finished runs
    local run
    list_runs | while read -r run; do
        [ -e "$out/${run// /-}.done" ] && [ -s "$out/${run// /-}-$1.csv" ] && echo "$out/${run// /-}-$1.csv"
    done
    true
}

# Lines of all finished runs in one file for each group, with one header.
join_tables() { # part, column of the group
    local files group
    mapfile -t files < <(finished "$1")
    [ ${#files[@]} -gt 0 ] || return 0
    for group in seen unseen; do
        awk -F, -v group=$group -v c="$2" 'NR == 1 || (FNR > 1 && $c == group)' "${files[@]}" >"$out/$1-$group.csv"
        [ "$(wc -l <"$out/$1-$group.csv")" -gt 1 ] || rm "$out/$1-$group.csv"
    done
}

# In the order of the paper's table.
models_of() { # table
    awk -F, -v order="np npsa ba mba mba2 mba3 mba5 rba rmba $models" 'NR > 1 { seen[$1] = 1 }
        END { n = split(order, m, " "); for (i = 1; i <= n; i++) if (m[i] in seen) { printf "%s ", m[i]; delete seen[m[i]] } }' "$1"
}

# Markdown cell: the mean over seeds of a column of a table at a level, ± the standard deviation of
# seeds, or the standard error over images if there is one seed.
cell() { # table model level column
    [ -s "$1" ] || { printf ' |' && return; }
    awk -F, -v model="$2" -v level="$3" -v c="$4" '
        $1 == model && $7 == level { n++; sum += $c; square += $c * $c; error = $(c + 1) }
        END {
            if (n > 1) { v = (square - sum * sum / n) / (n - 1); error = v > 0 ? sqrt(v) : 0 }
            if (n && error != "") printf " %.3f ± %.3f |", sum / n, error
            else if (n) printf " %.3f |", sum / n
            else printf " |"
        }' "$1"
}

# Table 1 of the paper.
print_table() {
    local model column group table
    echo "| model (seeds) | LL seen ctx | LL seen tgt | LL unseen ctx | LL unseen tgt | RMSE seen ctx | seen tgt | unseen ctx | unseen tgt |"
    echo "|---|---|---|---|---|---|---|---|---|"
    for model in $(models_of "$out/eval-seen.csv"); do
        printf '| %s (%d) |' "$model" "$(grep -c "^$model," "$out/eval-seen.csv")"
        for column in "10 12" "14 16"; do
            for group in seen unseen; do
                table=$out/eval-$group.csv
                cell "$table" "$model" 0 "${column% *}"
                cell "$table" "$model" 0 "${column#* }"
            done
        done
        echo
    done
    echo
}

# A column of a table against what its seventh column says.
print_levels() { # table title column levels
    local model level
    [ -s "$1" ] || return 0
    echo "| $2 |$(for level in ${4//,/ }; do printf ' %s |' "$level"; done)"
    echo "|---|$(for level in ${4//,/ }; do printf -- '---|'; done)"
    for model in $(models_of "$1"); do
        printf '| %s |' "$model"
        for level in ${4//,/ }; do
            cell "$1" "$model" "$level" "$3"
        done
        echo
    done
    echo
}

print_sweeps() { # group
    [ -s "$out/sweeps-$1.csv" ] || return 0
    echo "| $1, severity 5, seed 1: model, sweeps | bound | ctx LL | tgt LL | tgt RMSE |"
    echo "|---|---|---|---|---|"
    awk -F, 'NR > 1 && $3 == 1 { printf "| %s, %d | %.1f | %.3f ± %.3f | %.3f ± %.3f | %.3f ± %.3f |\n",
        $1, $5, $6, $7, $8, $9, $10, $11, $12 }' "$out/sweeps-$1.csv"
    echo
}

# Of seed 1; the seconds are those of the run, with what it watched and saved.
print_costs() {
    local model
    echo "| model | parameters of encoder and decoder | seconds an epoch |"
    echo "|---|---|---|"
    for model in $(models_of "$out/eval-seen.csv"); do
        [ ! -s "$out/$model-1-log.csv" ] || printf '| %s | %s | %s |\n' "$model" \
            "$(awk -F, -v m="$model" '$1 == m { print $23; exit }' "$out/eval-seen.csv")" \
            "$(awk -F, -v epochs="$epochs" 'END { printf "%.1f", $2 / epochs }' "$out/$model-1-log.csv")"
    done
    echo
}

print_report() {
    local group kind
    for kind in eval noise pixelate sizes; do
        join_tables $kind 20
    done
    join_tables sweeps 13
    [ -s "$out/eval-seen.csv" ] || { echo "nothing is finished yet" && return; }
    print_table
    for kind in noise pixelate; do
        for group in seen unseen; do
            print_levels "$out/$kind-$group.csv" "$kind, $group, target LL at severity" 12 $severities
            print_levels "$out/$kind-$group.csv" "$kind, $group, target RMSE at severity" 16 $severities
        done
    done
    for group in seen unseen; do
        print_levels "$out/sizes-$group.csv" "$group, target LL with context pixels" 12 $sizes
        print_levels "$out/sizes-$group.csv" "$group, target RMSE with context pixels" 16 $sizes
        print_sweeps $group
    done
    print_costs
    print_history epochs
}

draw_levels() { # part group title xlabel xtick side
    local table=$out/$1-$2.csv
    [ ! -s "$table" ] || plot corruption "out='$out/$1-$2'; table='$table'; models='$(models_of "$table")'; \
        heading='$3, $2 classes'; xlabel='$4'; xtick=$5; side=$6"
}

draw_figures() {
    local group table model logs=() shown=()
    for group in seen unseen; do
        draw_levels noise $group 'Noise on the context' severity 1 0.2
        draw_levels pixelate $group 'Pixelated context' severity 1 0.2
        draw_levels sizes $group 'Context of several sizes' 'context pixels' 100 10
        table=$out/sweeps-$group.csv
        [ -s "$table" ] || continue
        awk -F, 'NR == 1 || $3 == 1' "$table" >"$out/sweeps-$group-1.csv"
        ! grep -q '^rba,' "$table" || plot sweeps "out='$out/sweeps-$group'; table='$out/sweeps-$group-1.csv'; \
            models='$(models_of "$table")'; heading='Noise of severity 5, $group classes: what more sweeps bring'"
    done
    for model in $(models_of "$out/eval-seen.csv"); do
        [ ! -s "$out/$model-1-log.csv" ] || { logs+=("$out/$model-1-log.csv") && shown+=("$model"); }
    done
    [ ${#logs[@]} -eq 0 ] || plot learning "out='$out/learning'; logs='${logs[*]}'; models='${shown[*]}'; \
        heading='Learning curves, test images of seen classes'"
}

# Images 3 and 8 of the test set as ba, a mixture and rba see them.
draw_sheets() {
    local image files=() model
    for model in ba mba5 rba; do
        [ ! -e "$out/$model-1.done" ] || files+=("$out/$model-1.safetensors")
    done
    [ ${#files[@]} -gt 0 ] || return 0
    for image in 3 8; do
        "$program" --data "$data" --sheet "$out/sheet-$image" --corrupt impulse --severity 5 \
            --image $image --quiet "${files[@]}"
        plot sheet "out='$out/sheet-$image'; sheet='$out/sheet-$image'; \
            heading='Completions of test image $image; corrupted: 7 % of the pixels black or white'"
    done
}

if [ "$report" -eq 1 ]; then
    [ -e "$out/settings" ] || die "$out has no runs"
    read -r _ epochs _ <"$out/settings"
    print_report
    exit
fi
[ -n "$data" ] || die "--data DIR is missing; scripts/demo-image.sh needs none"
[ "$data" = synthetic ] || [ -e "${data%%,*}" ] || die "--data $data: there is no such file"
take_folder epochs "samples $samples tasks $tasks data $data"
[ -n "${NPAGG_IMAGE:-}" ] || build examples/image/npagg-image
export data out epochs samples threads tasks severities sizes sweeps program
export -f train
run_all
print_report >"$out/tables.md"
if [ ! -s "$out/eval-seen.csv" ]; then
    echo "no run is finished"
    exit 1
fi
if command -v gnuplot >/dev/null; then
    draw_figures
    draw_sheets
else
    echo "no gnuplot here: the pictures were skipped"
fi
echo "the tables are in $out/tables.md, the pictures in $out/*.png"
exit $failed
