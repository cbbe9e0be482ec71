# SPDX-License-Identifier: MIT
# paper.gp: how does this run compare with the figures of 2004? dots_P_N.tsv (value, row, low, high), rows.tsv, values_P.tsv -> picture
load share."common.gp"
set multiplot
load share."canvas.gp"
do for [p = 1 : panels] {
  load share."panels.gp"
  set grid y
  set logscale x
  set xrange [x_low[p] : x_high[p]]
  plot sprintf("spans_%d.tsv", p) using 1:2:3:(0) with vectors nohead lc rgb "#cccccc" lw 3, \
       for [n = 1 : series] sprintf("dots_%d_%d.tsv", p, n) using 1:2:3:4 with xerrorbars pt marker[n] ps 1.2 lw 1.5 lc rgb colour[n], \
       sprintf("values_%d.tsv", p) using 1:2:3 with labels left offset 1.2, 0 font small_font textcolor rgb "#222222", \
       "rows.tsv" using (p == 1 ? x_low[p] : NaN):1:2 with labels right offset -1, 0 textcolor rgb "#222222", \
       "rows_small.tsv" using (p == 1 ? x_low[p] : NaN):1:2 with labels right offset -1.2, 0 font small_font textcolor rgb "#222222"
}
unset multiplot
