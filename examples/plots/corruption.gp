# Log-likelihood and error of the targets against corruption of the context, or against its size, all
# models.
#
#   gnuplot -e "out='fig'; table='eval.csv'; models='ba rba'" -c corruption.gp
#
# table: --csv-out of npagg-regression --eval, or of npagg-image with the lines of one group. Several
# lines of a model and level (seeds) are averaged; the bars are standard errors over tasks, or over
# seeds if there are several. Optional: heading, xlabel, xtick (their distance), side (room beside
# the first and last level).
if (!exists('width')) width = 1260
if (!exists('height')) height = 440
if (!exists('heading')) heading = 'Corrupted context: y += γ · Student-t(2.1)'
if (!exists('xlabel')) xlabel = 'corruption γ'
if (!exists('xtick')) xtick = 0.05
if (!exists('side')) side = 0.01
if (!exists('base')) base = system("dirname '".ARG0."'").'/'
load base.'common.gp'
n = words(models)
m(i) = word(models, i)
pick(model, c) = sprintf("< sh '%saverage.sh' '%s' '%s' %d", base, table, model, c)
set xlabel xlabel
set xtics xtick
if (xtick != 1) { set mxtics 5 }
set autoscale xfix
do for [f = 1:2] {
    eval terminal(f)
    set output file(f)
    set multiplot layout 1, 2 title heading font ',15' margins char 11, char 27, char 4, char 4 spacing char 13, char 0
    set offsets side, side, graph 0.05, graph 0.05
    unset key
    set title 'log-likelihood, higher is better'
    set ylabel 'target log-likelihood (nats per point)'
    plot for [i = 1:n] pick(m(i), 12) using 1:2:3 with yerrorlines linecolor rgb colour_of(m(i)) linewidth 2 pointtype point_of(m(i)) pointsize 1.1 title name_of(m(i))
    set key at graph 1.05, graph 0.98 left top reverse Left font ',12' spacing 1.3 # for both
    set title 'error, lower is better'
    set ylabel 'target RMSE'
    plot for [i = 1:n] pick(m(i), 16) using 1:2:3 with yerrorlines linecolor rgb colour_of(m(i)) linewidth 2 pointtype point_of(m(i)) pointsize 1.1 title name_of(m(i))
    unset multiplot
    unset output
}
