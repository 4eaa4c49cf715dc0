# Learning curves: held-out target log-likelihood and training loss against steps.
#
#   gnuplot -e "out='fig'; logs='ba.csv rba.csv'; models='ba rba'" -c learning.gp
#
# logs: --log files of npagg-regression. Optional: heading.
if (!exists('width')) width = 1080
if (!exists('height')) height = 440
if (!exists('heading')) heading = 'Learning curves'
if (!exists('base')) base = system("dirname '".ARG0."'").'/'
load base.'common.gp'
n = words(logs)
m(i) = word(models, i)
set xlabel 'training step (thousands)'
set xrange [0:*]
set offsets 0, 0, graph 0.05, graph 0.05
do for [f = 1:2] {
    eval terminal(f)
    set output file(f)
    set multiplot layout 1, 2 title heading font ',15' margins char 11, char 3, char 4, char 4 spacing char 13, char 0
    set key bottom right font ',12' spacing 1.2
    set title 'held-out tasks'
    set ylabel 'target log-likelihood (nats per point)'
    plot for [i = 1:n] word(logs, i) skip 1 using ($1 / 1000):7 with linespoints linecolor rgb colour_of(m(i)) linewidth 2 pointtype point_of(m(i)) pointsize 0.5 title name_of(m(i))
    set title 'training tasks'
    set ylabel 'loss (nats per point)'
    set key top right
    plot for [i = 1:n] word(logs, i) skip 1 using ($1 / 1000):5 with lines linecolor rgb '#50'.colour_of(m(i))[2:7] linewidth 1.5 title name_of(m(i))
    unset multiplot
    unset output
}
