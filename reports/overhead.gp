# SPDX-License-Identifier: MIT
# overhead.gp: what share of the raw figures is the probes' cost? bars_1.tsv (row, from, to, colour) in percent of raw, values_1.tsv, rows.tsv -> picture
load share."common.gp"
set multiplot
load share."canvas.gp"
half = 0.36
p = 1
load share."panels.gp"
set rmargin at screen across(width_px - right_px)
set xrange [0 : x_high[p]]
set arrow 1 from 100, 0.5 to 100, rows + 0.5 nohead front lc rgb "#555555" lw 1
plot "bars_1.tsv" using 2:1:2:3:($1-half):($1+half):4 with boxxyerror lc rgb variable, \
     "values_1.tsv" using (x_high[p]):2:3 with labels left offset 0.8, 0 font small_font textcolor rgb "#222222", \
     "rows.tsv" using (0):1:2 with labels right offset -1, 0 textcolor rgb "#222222", \
     "rows_small.tsv" using (0):1:2 with labels right offset -1.2, 0 font small_font textcolor rgb "#222222"
unset multiplot
