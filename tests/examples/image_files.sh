# Images in the format IDX: what the reader refuses, in one line that names the file, and what it
# takes.
# usage: image_files.sh the built program
. "$SOURCE_ROOT/tests/support/checks.sh"
program=$(realpath "$1")
cd "$WORK" || exit 1

tiny=(--latent 4 --hidden 4 --layers 2 --decoder-hidden 4 --decoder-layers 2 --batch 4 --steps 2
    --watch-every 0 --quiet)

number() { # big-endian, four bytes
    printf '%b' "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 >> 24 & 255)) $(($1 >> 16 & 255)) \
        $(($1 >> 8 & 255)) $(($1 & 255)))"
}

images() { # count: of 6 x 5 pixels
    number 0x803; number "$1"; number 6; number 5
    head -c $(($1 * 30)) /dev/urandom
}

labels() { # count: 0 1 2 0 1 2 ...
    number 0x801; number "$1"
    awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%c", i % 3 + 128 }' | LC_ALL=C tr '\200-\202' '\000-\002'
}

# A folder with a good set, of which a check spoils one file.
good() {
    rm -rf data
    mkdir data
    images 12 >data/train-images-idx3-ubyte
    labels 12 >data/train-labels-idx1-ubyte
    images 6 >data/t10k-images-idx3-ubyte
    labels 6 >data/t10k-labels-idx1-ubyte
}

refuses() { # texts...
    local status text
    "$program" "${tiny[@]}" --data data >out 2>err
    status=$?
    cat out err
    [ $status -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] || return 1
    for text; do
        grep -qF -- "$text" err || return 1
    done
}

bad() { # claim, file, text; the file from stdin
    good
    cat >"data/$2"
    check "$1" refuses "$2" "$3"
}

trained=train-images-idx3-ubyte labelled=train-labels-idx1-ubyte
bad "an empty file is refused" $trained "ends within its header: got 0 bytes of them, want 16" </dev/null
bad "half a header is refused" $trained "ends within its header: got 10 bytes of them" \
    < <(images 12 | head -c 10)
bad "labels in the place of images are refused" $trained \
    "is no IDX file of images: it begins with 0x00000801, want 0x00000803" < <(labels 12)
bad "images in the place of labels are refused" $labelled "is no IDX file of labels: it begins with 0x00000803" \
    < <(images 12)
bad "text is refused" $trained "is no IDX file of images: it begins with 0x6e6f2069" <<<'no images here, only text'
bad "images that end early are refused" $trained "has 300 bytes, but its header says 376" \
    < <(images 12 | head -c 300)
bad "images that go on are refused" $trained "has 377 bytes, but its header says 376" \
    < <(images 12; printf x)
bad "labels that end early are refused" $labelled "has 15 bytes, but its header says 20" \
    < <(labels 12 | head -c 15)
bad "no images are refused" $trained "says 0 images of 6 x 5" < <(images 0)
bad "images without rows are refused" $trained "says 12 images of 0 x 5" \
    < <(number 0x803; number 12; number 0; number 5)
bad "absurdly many images are refused" $trained "has 376 bytes, but its header says 128849018866" \
    < <(number 0x803; number 0xffffffff; number 6; number 5; images 12 | tail -c 360)
bad "absurd sides are refused" $trained "says 12 images of 4294967295 x 4294967295; want" \
    < <(number 0x803; number 12; number 0xffffffff; number 0xffffffff)
bad "other numbers of labels than of images are refused" $labelled \
    "has 11 labels, but data/train-images-idx3-ubyte has 12 images" < <(labels 11)
bad "images of too few pixels are refused" $trained "images of 1 x 5 pixels, want 6 pixels at least" \
    < <(number 0x803; number 12; number 1; number 5; head -c 60 /dev/zero)

zipped() { # claim, text; data/train-images-idx3-ubyte.gz from stdin
    good
    rm data/$trained
    cat >data/$trained.gz
    check "$1" refuses "$trained.gz" "$2"
}
zipped "a gzip file that ends early is refused" "cannot be read: the gzip file ends too early" \
    < <(images 12 | gzip -n | head -c 200)
zipped "a gzip file with a wrong sum is refused" "cannot be read: " \
    < <(images 12 | gzip -n | head -c -8; printf 'abcd\x78\x01\x00\x00')
zipped "a damaged gzip file is refused" "cannot be read: " \
    < <(images 2000 | gzip -n | head -c 1000; head -c 500 /dev/zero; images 2000 | gzip -n | tail -c +1500)
zipped "a gzip file that goes on is refused" "has more bytes than its header says" \
    < <({ images 12; printf x; } | gzip -n)
zipped "a gzip file that ends within the images is refused" "ends within its images: got 84 bytes of them, want 360" \
    < <(images 12 | head -c 100 | gzip -n)
zipped "a small gzip file that claims much is refused" "which cannot hold the 128849018850 that its header says" \
    < <({ number 0x803; number 0xffffffff; number 6; number 5; images 12; } | gzip -n)
zipped "a gzip file of nothing is refused" "ends within its header" < <(gzip -n </dev/null)

missing() { # claim, text, command...
    good
    "${@:3}"
    check "$1" refuses "$2"
}
missing "labels that are missing are named" "no labels beside it" rm data/$labelled
missing "test images that are missing are named" "no test images beside it" rm data/t10k-images-idx3-ubyte
missing "a folder without images is refused" "data has no file *train-images-idx3-ubyte[.gz]" \
    rm data/$trained
missing "a folder of two sets wants to know which" "data has several files" cp data/$trained data/other-$trained
missing "no folder is refused" "--data data: No such file" rm -r data
missing "test images of another size are refused" "images of another size" \
    eval '{ number 0x803; number 6; number 5; number 6; head -c 180 /dev/zero; } >data/t10k-images-idx3-ubyte'
missing "classes without images are refused" "the test set has no image of classes 0-9" \
    eval '{ number 0x801; number 6; printf "aaaaaa"; } >data/t10k-labels-idx1-ubyte'
missing "classes without training images are refused" "the training set has no image of classes 0-9" \
    eval '{ number 0x801; number 12; printf "aaaaaaaaaaaa"; } >data/train-labels-idx1-ubyte'
missing "a folder in the place of a file is refused" "is no file" \
    eval "rm data/$trained; mkdir data/$trained"

trains() { # data, arguments...
    rm -f own.st
    "$program" "${tiny[@]}" --data "$1" --checkpoint own.st "${@:2}" && test -s own.st
}
good
check "a folder is trained on" trains data
cp own.st plain.st
gzip -n data/*
check "compressed too" trains data
check "to the same bytes" cmp own.st plain.st
check "a file stands for its folder" trains data/$trained.gz
check "both files may be given" trains data/$trained.gz,data/t10k-images-idx3-ubyte.gz
cp own.st plain.st
trains data --transpose
differ() {
    ! cmp -s own.st plain.st
}
check "transposed images are others" differ
for file in data/*; do
    mv "$file" "data/emnist-x-$(basename "${file/t10k/test}")"
done
trains data
check "files of EMNIST are transposed" differ
check "unless it is said that they are not" eval 'trains data --no-transpose && cmp own.st plain.st'
evaluates() {
    "$program" --eval own.st --data data/emnist-x-test-images-idx3-ubyte.gz --quiet --eval-samples 2 "$@"
}
check "a test set alone is enough to evaluate" evaluates
check "seen and unseen classes are told apart" eval \
    'evaluates --classes 1,2 | tee out; grep -q "emnist-x classes 1-2, 4 seen, 2 unseen tasks" out'
other_data() {
    good
    "$program" "${tiny[@]}" --data data --checkpoint own.st --resume 2>err
    [ $? -eq 2 ] && grep -q 'own.st was trained on other data than data' err
}
check "a run does not go on with other data" other_data
finish
