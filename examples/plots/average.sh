# usage: average.sh TABLE MODEL COLUMN: "gamma,mean,error" of a column of an --eval table. The error
# is that over tasks, in the next column; of several lines of a model and level (seeds), it is the
# standard error of their mean.
export LC_ALL=C # where numbers have a decimal comma awk would not read ours
awk -F, -v model="$2" -v c="$3" '
    $1 == model { n[$7]++; sum[$7] += $c; square[$7] += $c * $c; error[$7] = $(c + 1) }
    END {
        for (g in n) {
            mean = sum[g] / n[g]
            if (n[g] > 1) {
                v = (square[g] - n[g] * mean * mean) / (n[g] - 1) / n[g]
                error[g] = v > 0 ? sqrt(v) : 0
            }
            print g "," mean "," error[g] + 0
        }
    }' "$1" | sort -t, -k1,1g
