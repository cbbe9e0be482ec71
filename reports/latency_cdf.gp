# SPDX-License-Identifier: MIT
# latency_cdf.gp: how many slices are below a value? line_N.tsv (value, nines), marks.tsv (value, nines, colour) -> picture
# The vertical axis counts nines (1 is 90 %, 2 is 99 %), so that rare slow slices are as easy to see as typical ones.
load share."common.gp"
set multiplot
load share."canvas.gp"
set lmargin at screen across(90)
set rmargin at screen across(width_px - 40)
set tmargin at screen down(top_px + 6)
set bmargin at screen down(body_px - 68)
if (x_log) { set logscale x }
set xrange [x_low : x_high]
set yrange [0 : y_high]
tic_words = x_tics
tic_axis = "x"
load share."tics.gp"
set xlabel axis_label offset 0, 0.3
set ytics ("0%%" 0, "50%%" 0.30103, "75%%" 0.60206, "90%%" 1, "95%%" 1.30103, "99%%" 2, "99.9%%" 3, "99.99%%" 4, "99.999%%" 5, "99.9999%%" 6, "99.99999%%" 7, "99.999999%%" 8)
set ylabel "share of the slices below" offset -1.5, 0
plot for [n = 1 : lines] sprintf("line_%d.tsv", n) using 1:2 with lines lw 2.2 lc rgb colour[n], \
     "marks.tsv" using 1:2:3 with points pt 7 ps 0.9 lc rgb variable, \
     "marks.tsv" using 1:2:4 with labels left offset 0.8, -0.7 font small_font textcolor rgb "#222222"
unset multiplot
