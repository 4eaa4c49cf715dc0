# Completions of one image by several models, from few pixels and from many: what they were given,
# mean, standard deviation, two samples, weights of the pixels (robust models), the image.
#
#   gnuplot -e "out='fig'; sheet='PREFIX'" -c sheet.gp
#
# makes fig.png of PREFIX.csv and PREFIX-labels.csv (npagg-image --sheet). Optional:
# heading, zoom (screen pixels a pixel).
if (!exists('zoom')) zoom = 3
if (!exists('heading')) heading = 'Completions of an image'
if (!exists('base')) base = system("dirname '".ARG0."'").'/'
pixels = sheet.'.csv'
last(c) = int(system(sprintf("awk -F, 'NR > 1 && $%d > m { m = $%d } END { print m }' '%s'", c, c, pixels)))
across = last(1) + 1
down = last(2) + 1
left = 100 / zoom; above = 50 / zoom
width = int(zoom * (left + across)) + 40
height = int(zoom * (above + down)) + 160
load base.'common.gp'
labels(what) = sprintf("< awk -F, '$3 == \"%s\"' '%s-labels.csv'", what, sheet)

stats pixels skip 1 using ($3 == 3 ? $4 : NaN) name 'SD' nooutput

# Three channels of four colours in a row, v in 0..1: inferno for standard deviations, cividis for
# weights.
ramp(v, a, b, c, d) = v <= 0 ? a : v >= 1 ? d : v < 1 / 3.0 ? a + (b - a) * 3 * v : \
    v < 2 / 3.0 ? b + (c - b) * (3 * v - 1) : c + (d - c) * (3 * v - 2)
grey_of(v) = 255 * (v < 0 ? 0 : v > 1 ? 1 : v)
share(v) = (v - SD_min) / (SD_max > SD_min ? SD_max - SD_min : 1)
red_of(what, v) = what == 1 ? grey_of(v) : what == 2 ? 58 : what == 3 ? ramp(share(v), 0, 120, 237, 252) : what == 4 ? ramp(v, 0, 87, 165, 254) : 255
green_of(what, v) = what == 1 ? grey_of(v) : what == 2 ? 111 : what == 3 ? ramp(share(v), 0, 28, 105, 255) : what == 4 ? ramp(v, 34, 92, 156, 232) : 255
blue_of(what, v) = what == 1 ? grey_of(v) : what == 2 ? 176 : what == 3 ? ramp(share(v), 4, 109, 37, 164) : what == 4 ? ramp(v, 78, 109, 116, 56) : 255

unset grid
steps = "< awk 'BEGIN { for (y = 0; y < 2; y++) for (x = 0; x < 256; x++) print x / 255 \",\" y }'"
at(x) = from + (to - from) * x
eval terminal(2)
set output file(2)
set multiplot title heading font ',15'
unset border
unset tics
unset key
set lmargin at screen 10.0 / width
set rmargin at screen 1 - 30.0 / width
set tmargin at screen 1 - 50.0 / height
set bmargin at screen 110.0 / height
set xrange [-left:across]
set yrange [down:-above]
plot pixels skip 1 using 1:2:(red_of($3, $4)):(green_of($3, $4)):(blue_of($3, $4)) with rgbimage, \
    labels('column') using 1:(-13.0 / zoom):(strcol(4)) with labels font ',11', \
    labels('model') using 1:(-36.0 / zoom):(name_of(strcol(4))) with labels font ',13', \
    labels('row') using (-8.0 / zoom):2:(word(strcol(4), 1).' pixels'.(words(strcol(4)) > 1 ? "\n".word(strcol(4), 2) : '')) with labels right font ',11'
set border 15
set tmargin at screen 78.0 / height
set bmargin at screen 62.0 / height
set yrange [0:1]
set xtics out nomirror scale 0.4 offset 0, 0.4 font ',10'
do for [bar = 1:3] {
    set lmargin at screen (bar - 0.85) / 3
    set rmargin at screen (bar - 0.15) / 3
    what = bar == 1 ? 1 : bar + 1
    from = bar == 2 ? SD_min : 0
    to = bar == 2 ? SD_max : 1
    set xrange [from:to]
    step = (to - from) / 4.0
    set xtics step
    set format x (bar == 2 ? '%.2f' : '%g')
    set xlabel (bar == 1 ? 'value of a pixel (blue: not in the context)' : bar == 2 ? 'predictive standard deviation' : 'weight E[β_i] / largest of the tile') font ',11' offset 0, 0.6
    plot steps using (at($1)):2:(red_of(what, at($1))):(green_of(what, at($1))):(blue_of(what, at($1))) with rgbimage
}
unset multiplot
unset output
