#!/usr/bin/env bash
# From a fresh clone to pictures of completed images: installs what is missing, builds, trains two
# neural processes on Fashion-MNIST for two epochs, one with Bayesian and one with robust
# aggregation, evaluates them and draws what they make of an image. What it makes is in
# demo-image-out/.
#
# Fashion-MNIST is Debian's package dataset-fashion-mnist, which root installs if it is missing.
# Where it cannot be had, the images are glyphs drawn by a procedure, which are fewer: 30 epochs.
#
# DEMO_DATA, DEMO_EPOCHS, DEMO_TASKS: other images (as --data), numbers of epochs and of images to
# evaluate on.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

out=demo-image-out
fashion=/usr/share/datasets/fashion-mnist
program=build/examples/image/npagg-image
tasks=${DEMO_TASKS:-500}

# Prints what --data is.
find_images() {
    if [ -n "${DEMO_DATA:-}" ]; then
        echo "$DEMO_DATA"
        return
    fi
    if [ ! -d $fashion ] && command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ]; then
        echo "installing dataset-fashion-mnist ..." >&2
        { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
            dataset-fashion-mnist; } >"$out/apt.log" 2>&1 || echo "that failed, see $out/apt.log" >&2
    fi
    if [ -d $fashion ]; then
        echo $fashion
    else
        echo "No Fashion-MNIST here (Debian's package dataset-fashion-mnist): glyphs drawn by a procedure instead." >&2
        echo synthetic
    fi
}

train() { # model
    "$program" --data "$data" --model "$1" --epochs "$epochs" --samples 3 --lr 1e-3 --seed 1 \
        --checkpoint "$out/$1.safetensors" --overwrite --log "$out/$1-log.csv"
    awk -F, -v model="$1" 'NR == 2 { first = $5 } { last = $5 }
        END { printf "%s: the loss went from %.3f to %.3f\n", model, first, last; exit !(last < first) }' "$out/$1-log.csv"
}

draw() { # number of the image
    "$program" --data "$data" --sheet "$out/sheet" --corrupt impulse --severity 5 --image "$1" --quiet \
        "$out/ba.safetensors" "$out/rba.safetensors"
    plot sheet "out='$out/sheet'; sheet='$out/sheet'; \
        heading='Completions of a test image; corrupted: 7 % of the pixels black or white'"
}

mkdir -p "$out"
data=$(find_images)
epochs=2
[ "$data" != synthetic ] || epochs=30 # of 20 steps each
epochs=${DEMO_EPOCHS:-$epochs}
echo "building ..."
build examples/image/npagg-image
echo "training ba and rba, $epochs epochs each, on $data ..."
train ba
train rba
echo "evaluating ..."
"$program" --data "$data" --eval "$out/ba.safetensors" "$out/rba.safetensors" --tasks "$tasks" \
    --corrupt noise --severity 0,5 --csv-out "$out/table.csv"
if command -v gnuplot >/dev/null; then
    draw 1
    echo "The table is $out/table.csv, the picture is $out/sheet.png."
else
    echo "No gnuplot here, so no picture: skipped $out/sheet.png. The table is $out/table.csv."
fi
exit $failed
