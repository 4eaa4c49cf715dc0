# Bound and log-likelihood against the number of VMP sweeps.
#
#   gnuplot -e "out='fig'; table='sweeps.csv'; models='rba'" -c sweeps.gp
#
# table: --csv-out of npagg-regression --eval --sweeps N. A model with one sweep, ba or mba, is a
# line to compare with. Optional: heading.
if (!exists('width')) width = 1080
if (!exists('height')) height = 440
if (!exists('heading')) heading = 'What more sweeps bring'
if (!exists('base')) base = system("dirname '".ARG0."'").'/'
load base.'common.gp'
n = words(models)
m(i) = word(models, i)
pick(model) = sprintf("< awk -F, '$1 == \"%s\"' '%s'", model, table)
lines_of(model) = int(system(sprintf("awk -F, '$1 == \"%s\"' '%s' | wc -l", model, table)))
level_of(model) = system(sprintf("awk -F, '$1 == \"%s\" { print $9 }' '%s'", model, table)) + 0
single = ''; robust = ''
do for [i = 1:n] { if (lines_of(m(i)) == 1) { single = single.' '.m(i) } else { robust = robust.' '.m(i) } }
set xlabel 'VMP sweeps at test time'
set xtics 1
set offsets 0.5, 0.5, graph 0.08, graph 0.08
set autoscale xfix
do for [f = 1:2] {
    eval terminal(f)
    set output file(f)
    set multiplot layout 1, 2 title heading font ',15' margins char 11, char 3, char 4, char 4 spacing char 13, char 0
    set key bottom right font ',12' spacing 1.2
    set title 'evidence bound of the context'
    set ylabel 'bound (nats per task, mean)'
    plot for [r in robust] pick(r) using 5:6 with linespoints linecolor rgb colour_of(r) linewidth 2 pointtype point_of(r) title name_of(r)
    set title 'prediction'
    set ylabel 'target log-likelihood (nats per point)'
    plot for [r in robust] pick(r) using 5:9:10 with yerrorlines linecolor rgb colour_of(r) linewidth 2 pointtype point_of(r) title name_of(r), \
        for [s in single] level_of(s) with lines dashtype 2 linewidth 2 linecolor rgb colour_of(s) title name_of(s)
    unset multiplot
    unset output
}
