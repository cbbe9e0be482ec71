# SPDX-License-Identifier: MIT
# latency_hist.gp: which values are usual, which rare? One panel per slice: hist_N.tsv (low, high, percent), half_N.tsv, most_N.tsv -> picture
load share."common.gp"
set multiplot
load share."canvas.gp"
side_px = 84
cell_px = (width_px - 24) / (1.0 * columns)
do for [n = 1 : panels] {
  column = (n - 1) % columns
  row = (n - 1) / columns
  left_px = column * cell_px + side_px
  head_px = top_px + row * row_px
  set lmargin at screen across(left_px)
  set rmargin at screen across((column + 1) * cell_px)
  set tmargin at screen down(head_px + 30)
  set bmargin at screen down(head_px + row_px - 68)
  unset label
  set label 1 panel_title[n] at screen across(left_px), screen down(head_px + 16) left textcolor rgb "#222222"
  if (x_log[n]) { set logscale x } else { unset logscale x }
  set xrange [x_low[n] : x_high[n]]
  set yrange [0 : y_high[n]]
  tic_words = x_tics[n]
  tic_axis = "x"
  load share."tics.gp"
  tic_words = y_tics[n]
  tic_axis = "y"
  load share."tics.gp"
  set xlabel axis_label[n] offset 0, 0.3
  set ylabel "share of the slices" offset -0.5, 0
  plot sprintf("hist_%d.tsv", n) using 1:3:1:2:(0):3 with boxxyerror lc rgb colour[n], \
       sprintf("half_%d.tsv", n) using 1:2 with lines lw 1.4 lc rgb "#222222", \
       sprintf("most_%d.tsv", n) using 1:2 with lines lw 1.4 dt 2 lc rgb "#222222"
}
unset multiplot
