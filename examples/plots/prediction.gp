# One task as several models see it: samples, mean, band of two standard deviations, and the context
# points, sized and coloured by the weight E[beta] that the model gives them, relative to the largest
# in the task.
#
#   gnuplot -e "out='fig'; panels='a b c d'; titles='A|B|C|D'" -c prediction.gp
#
# makes fig.svg and fig.png of a-context.csv, a-curve.csv and so on (npagg-regression --predict), two
# panels a row. Optional: heading, xlabel, ylabel, columns, xtick.
n = words(panels)
if (!exists('columns')) columns = n < 2 ? 1 : 2
rows = (n + columns - 1) / columns
if (!exists('width')) width = 40 + 520 * columns
if (!exists('height')) height = 130 + 330 * rows
if (!exists('heading')) heading = ''
if (!exists('xlabel')) xlabel = 'x'
if (!exists('ylabel')) ylabel = 'y'
if (!exists('base')) base = system("dirname '".ARG0."'").'/'
load base.'common.gp'

title_of(i) = system(sprintf("printf '%%s' '%s' | cut -d'|' -f%d", titles, i))
context(i) = word(panels, i).'-context.csv'
curve(i) = word(panels, i).'-curve.csv'

# One scale of y for all panels.
bottom = 1e30; top = -1e30
array heaviest[n]
array truth[n] # the column of the true function; of a real series nobody knows it
do for [i = 1:n] {
    stats context(i) using 4 name 'W' nooutput
    heaviest[i] = W_max
    truth[i] = int(system(sprintf("awk -F, 'NR == 2 { print $4 == \"\" ? 2 : 4 }' '%s'", curve(i))))
    stats context(i) using 2 name 'Y' nooutput
    bottom = Y_min < bottom ? Y_min : bottom
    top = Y_max > top ? Y_max : top
    stats curve(i) using ($2 - 2 * $3) name 'L' nooutput
    stats curve(i) using ($2 + 2 * $3) name 'H' nooutput
    bottom = L_min < bottom ? L_min : bottom
    top = H_max > top ? H_max : top
}
if (exists('xtick')) set xtics xtick
margin = 0.04 * (top - bottom)
size(w) = 0.6 + 1.1 * sqrt(w)

samples = int(system(sprintf("head -n 1 '%s' | tr ',' '\n' | wc -l", curve(1)))) - 4

# cividis, which runs from dark blue to yellow in lightness too
set palette defined (0 '#00224e', 0.25 '#35456c', 0.5 '#7c7b78', 0.75 '#bcae6c', 1 '#fee838')
set cbrange [0:1]
set cblabel 'weight E[β_i] / largest' offset 0.5, 0 font ',12'
set yrange [bottom - margin:top + margin]

do for [f = 1:2] {
    eval terminal(f)
    set output file(f)
    set multiplot layout rows, columns title heading font ',15' margins screen 75.0 / width, screen 1 - 120.0 / width, screen 128.0 / height, screen 1 - 80.0 / height spacing screen 55.0 / width, screen 85.0 / height
    do for [i = 1:n] {
        set title title_of(i) font ',13' offset 0, -0.5
        set xlabel (i > n - columns ? xlabel : '') offset 0, 0.3
        set ylabel ((i - 1) % columns == 0 ? ylabel : '') offset 1, 0
        unset key
        unset colorbox
        if (i == n) { set key at screen 0.5, screen 12.0 / height center bottom horizontal samplen 2 width -1 maxcols 5 font ',12' }
        if (i % columns == 0 || i == n) { set colorbox }
        plot curve(i) skip 1 using 1:($2 - 2 * $3):($2 + 2 * $3) with filledcurves fillcolor rgb sky fillstyle transparent solid 0.35 noborder title 'mean ± 2 sd', \
            for [s = 5:4 + samples] curve(i) skip 1 using 1:(column(s)) with lines linecolor rgb '#800072B2' linewidth 1 title s == 5 ? 'samples' : '', \
            curve(i) skip 1 using 1:(column(truth[i])) with lines linecolor rgb 'black' dashtype 2 linewidth 1.2 title truth[i] == 4 ? 'true function' : '', \
            curve(i) skip 1 using 1:2 with lines linecolor rgb blue linewidth 2.4 title 'mean', \
            context(i) skip 1 using 1:2:(size($4 / heaviest[i]) + 0.35) with points pointtype 7 pointsize variable linecolor rgb 'black' notitle, \
            context(i) skip 1 using 1:2:(size($4 / heaviest[i])):($4 / heaviest[i]) with points pointtype 7 pointsize variable linecolor palette title 'context'
    }
    unset multiplot
    unset output
}
