# What the pictures share: Okabe and Ito's colours, which people with any kind of colour vision can
# tell apart, a font, and both formats. A script loads this, then makes its picture once for each
# i in 1..2 after calling format(i).
blue = '#0072B2'; orange = '#E69F00'; green = '#009E73'; red = '#D55E00'
purple = '#CC79A7'; sky = '#56B4E9'; grey = '#666666'
# Models go by their word; a mixture may have its number of components behind it, as in mba5.
colour_of(m) = m eq 'ba' ? blue : m eq 'rba' ? red : m eq 'mba' ? green : m eq 'rmba' ? purple : \
    m eq 'np' ? grey : m eq 'npsa' ? orange : m eq 'mba2' ? sky : m[1:3] eq 'mba' ? \
    (m eq 'mba3' ? green : '#004D38') : m[1:4] eq 'rmba' ? purple : sky
name_of(m) = m eq 'ba' ? 'BA' : m eq 'rba' ? 'rBA (robust)' : m eq 'mba' ? 'mBA (mixture)' : \
    m eq 'rmba' ? 'rmBA (robust mixture)' : m eq 'np' ? 'NP (mean)' : m eq 'npsa' ? 'NP + SA' : \
    m[1:3] eq 'mba' ? 'mBA (K = '.m[4:*].')' : m[1:4] eq 'rmba' ? 'rmBA (K = '.m[5:*].')' : m
point_of(m) = m eq 'ba' ? 7 : m eq 'rba' ? 5 : m eq 'mba' ? 9 : m eq 'rmba' ? 13 : m eq 'np' ? 6 : \
    m eq 'mba2' ? 8 : m eq 'mba3' ? 9 : m eq 'mba5' ? 11 : 4
rgb(c) = int('0x'.substr(c, 2, 7))

if (!exists('width')) width = 1000
if (!exists('height')) height = 420
formats = 'svg png'
terminal(i) = i == 1 ? \
    sprintf("set terminal svg size %d,%d enhanced font 'DejaVu Sans,13' background '#ffffff'", width, height) : \
    sprintf("set terminal pngcairo size %d,%d enhanced font 'DejaVu Sans,13' background '#ffffff' fontscale 1", width, height)
file(i) = out.'.'.word(formats, i)

set datafile separator comma
set encoding utf8
set border 3 linewidth 1 linecolor rgb grey
set tics nomirror out scale 0.6
set grid back linecolor rgb '#dddddd' linetype 1 linewidth 0.5
