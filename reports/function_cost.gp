# SPDX-License-Identifier: MIT
# function_cost.gp: where does the cost of a packet go? bars_P.tsv (row, from, to, colour), errors_P.tsv (row, value, low, high), values_P.tsv, rows.tsv -> picture
load share."common.gp"
set multiplot
load share."canvas.gp"
half = 0.36
do for [p = 1 : panels] {
  load share."panels.gp"
  set xrange [x_low[p] : x_high[p]]
  bars = sprintf("bars_%d.tsv", p)
  errors = sprintf("errors_%d.tsv", p)
  values = sprintf("values_%d.tsv", p)
  set arrow 1 from 0, 0.5 to 0, rows + 0.5 nohead lc rgb "#555555" lw 1
  if (p == 1) {
    plot bars using 2:1:2:3:($1-half):($1+half):4 with boxxyerror lc rgb variable, \
         errors using 2:1:3:4 with xerrorbars pt 0 lw 1.4 lc rgb "#222222", \
         values using 1:2:3 with labels left offset 0.6, 0 font small_font textcolor rgb "#222222", \
         "rows.tsv" using (x_low[p]):1:2 with labels right offset -1, 0 textcolor rgb "#222222", \
         "rows_small.tsv" using (x_low[p]):1:2 with labels right offset -1.2, 0 font small_font textcolor rgb "#222222"
  } else {
    plot bars using 2:1:2:3:($1-half):($1+half):4 with boxxyerror lc rgb variable, \
         errors using 2:1:3:4 with xerrorbars pt 0 lw 1.4 lc rgb "#222222", \
         values using 1:2:3 with labels left offset 0.6, 0 font small_font textcolor rgb "#222222"
  }
}
unset multiplot
