# Tasks of one's own: what the reader of CSV files refuses, with file and line, and what it takes.
# usage: regression_csv.sh the built program
. "$SOURCE_ROOT/tests/support/checks.sh"
program=$(realpath "$1")
cd "$WORK" || exit 1

tiny=(--latent 4 --hidden 4 --decoder-hidden 4 --quiet --steps 3)

rows() { # task, number of points
    awk -v task="$1" -v n="$2" 'BEGIN { for (i = 0; i < n; i++) print task "," i "," sin(i) }'
}

refuses() { # text; tasks.csv
    local status
    "$program" "${tiny[@]}" --csv tasks.csv >out 2>err
    status=$?
    cat out err
    [ $status -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] && grep -qF -- "$1" err
}

bad() { # claim, text; the file from stdin
    cat >tasks.csv
    check "$1" refuses "$2"
}

bad "an empty file is refused" "tasks.csv: no points" </dev/null
bad "a header alone is refused" "tasks.csv: no points" <<<'task,x,y'
bad "a header without task is refused" 'tasks.csv:1: the header begins "year,calls"' <<<'year,calls'
bad "a header without y is refused" "tasks.csv:1: the header" <<<'task,x1,x2'
bad "x behind y is refused" "tasks.csv:1: the header" <<<'task,y,x'
bad "a row that is too short is refused" "tasks.csv:7: 2 columns, want 3" \
    < <(echo task,x,y; rows a 5; echo a,5)
bad "a row that is too long is refused" "tasks.csv:7: 4 columns, want 3" \
    < <(echo task,x,y; rows a 5; echo a,5,6,7)
bad "a word is refused" 'tasks.csv:7: y is "abc", want a finite number' \
    < <(echo task,x,y; rows a 5; echo a,5,abc)
bad "NaN is refused" 'tasks.csv:7: x is "NaN", want a finite number' \
    < <(echo task,x,y; rows a 5; echo a,NaN,1)
bad "infinity is refused" 'tasks.csv:7: y is "inf"' \
    < <(echo task,x,y; rows a 5; echo a,1,inf)
bad "a number that is too large is refused" 'tasks.csv:7: y is "-1e300", want a finite number, 1e+30 at most' \
    < <(echo task,x,y; rows a 5; echo a,1,-1e300)
bad "a number that is too large for the networks is refused" \
    'tasks.csv:7: task "b" has a value that becomes 1e+20, want at most 1e+15' \
    < <(echo task,x,y; rows a 5; rows b 5; echo b,1,1e20)
bad "a zero byte is refused" 'tasks.csv:7: there is a zero byte' \
    < <(echo task,x,y; rows a 5; printf 'a,1,2\0,3\n')
bad "a carriage return within a line is refused" 'tasks.csv:7: 5 columns, want 3' \
    < <(echo task,x,y; rows a 5; printf 'a,1,2\ra,2,3\n')
bad "more columns than can be are refused" "tasks.csv:1: 101 columns, want at most 64" \
    < <(printf task; printf ',x%d' $(seq 99); echo ,y)
bad "control characters are not shown" 'tasks.csv:1: the header begins "task?", want' <<<$'task\a'
bad "a missing value is refused" 'tasks.csv:7: y is "NA"' \
    < <(echo task,x,y; rows a 5; echo a,1,NA)
bad "an empty cell is refused" 'tasks.csv:7: y is ""' \
    < <(echo task,x,y; rows a 5; echo a,1,)
bad "a task with too few points is refused" 'tasks.csv:7: task "b" has 3 points, want at least 4' \
    < <(echo task,x,y; rows a 5; rows b 3)
bad "a task in pieces is refused" 'tasks.csv:12: task "a" has begun in line 2 already' \
    < <(echo task,x,y; rows a 5; rows b 5; rows a 5)

trains() { # arguments...
    rm -f own.st
    "$program" "${tiny[@]}" --csv tasks.csv --checkpoint own.st "$@" && test -s own.st
}
{ echo task,x,y; rows a 5; rows b 30; echo; rows c 200; } >tasks.csv
check "tasks of different sizes are trained on" trains
cp own.st plain.st
{ printf '\xef\xbb\xbf'; sed 's/$/\r/' tasks.csv; } >windows.csv
from_windows() {
    "$program" "${tiny[@]}" --csv windows.csv --checkpoint windows.st && cmp plain.st windows.st
}
check "a file from Windows, with a byte order mark, is the same" from_windows
check "they may be standardised" trains --standardise moments
check "or by medians" trains --standardise robust --max-points 200
check "and evaluated on" "$program" --eval own.st --csv tasks.csv --quiet --tasks 32 --gamma 0,0.1
check "and drawn" "$program" --predict pic own.st --csv tasks.csv --standardise robust --task 3
check "the picture is in the units of the file" \
    awk -F, 'NR == 201 { exit !($1 == 199) }' pic-context.csv

other_data() {
    "$program" "${tiny[@]}" --csv other.csv --checkpoint own.st --resume 2>err
    [ $? -eq 2 ] && grep -q 'trained on other data' err
}
{ echo task,x,y; rows a 6; } >other.csv
check "a run does not go on with other data" other_data

printf 'task,x1,x2,y1,y2\r\n' >tasks.csv
awk 'BEGIN { for (i = 0; i < 9; i++) printf "t, %d ,%d,%d,%d\r\n", i, i % 3, i * i, -i }' >>tasks.csv
check "x and y may have several columns, lines end as on Windows" trains --standardise moments
wrong_shape() {
    "$program" --eval own.st --quiet 2>err
    [ $? -eq 2 ] && grep -q 'takes x \[2\] and y \[2\]' err
}
check "a model of two inputs does not take drawn functions" wrong_shape
draws_two() {
    "$program" --predict pic own.st --csv tasks.csv 2>err
    [ $? -eq 2 ] && grep -q -- '--predict wants tasks of one x and one y, got x \[2\] and y \[2\]' err
}
check "nor can it be drawn" draws_two
overwrites() { # option
    cp tasks.csv copy.csv
    "$program" "${tiny[@]}" --csv tasks.csv "$1" ./tasks.csv 2>err
    [ $? -eq 2 ] && grep -q -- "--csv and $1 are the same file" err && cmp tasks.csv copy.csv
}
check "the tasks are not overwritten by a log" overwrites --log
check "nor by a table" overwrites --csv-out
many() {
    awk 'BEGIN { print "task,x,y"; for (t = 0; t < 100000; t++) for (i = 0; i < 4; i++) print t "," i ",1" }' >tasks.csv
    (
        ulimit -t 5
        trains --watch-every 0
    )
}
check "many tasks are read in a time that is linear in them" many
constant() {
    awk 'BEGIN { print "task,x,y"; for (i = 0; i < 9; i++) print "t," i ",5" }' >tasks.csv
    trains --standardise "$1"
}
check "constant values are no division by zero" constant moments
check "neither by medians" constant robust
finish
