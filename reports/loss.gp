# SPDX-License-Identifier: MIT
# loss.gp: were records lost, and why? bars_1.tsv (row, from, to, colour) on a log axis, values_1.tsv, rows.tsv -> picture
load share."common.gp"
set multiplot
load share."canvas.gp"
half = 0.36
p = 1
load share."panels.gp"
set logscale x
set xrange [0.5 : x_high[1]]
plot "bars_1.tsv" using 2:1:2:3:($1-half):($1+half):4 with boxxyerror lc rgb variable, \
     "values_1.tsv" using 1:2:3 with labels left offset 0.6, 0 textcolor rgb "#222222", \
     "rows.tsv" using (0.5):1:2 with labels right offset -1, 0 textcolor rgb "#222222", \
     "rows_small.tsv" using (0.5):1:2 with labels right offset -1.2, 0 font small_font textcolor rgb "#222222"
unset multiplot
