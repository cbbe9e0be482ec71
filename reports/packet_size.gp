# SPDX-License-Identifier: MIT
# packet_size.gp: does a longer packet cost more? series_P_N.tsv (bytes, value, low, high), lines as formulas -> picture
load share."common.gp"
set multiplot
load share."canvas.gp"
gap_px = 100
do for [p = 1 : panels] {
  panel_px = (width_px - 90 - 30 - gap_px * (panels - 1)) / (1.0 * panels)
  left_px = 90 + (p - 1) * (panel_px + gap_px)
  set lmargin at screen across(left_px)
  set rmargin at screen across(left_px + panel_px)
  set tmargin at screen down(top_px + 6)
  set bmargin at screen down(body_px - 68)
  if (y_log[p]) { set logscale y } else { unset logscale y }
  if (exists("x_log") && x_log) { set logscale x; set xrange [x_low : x_high] } else { set xrange [(exists("x_low") ? x_low : 0) : x_high] }
  set yrange [y_low[p] : y_high[p]]
  tic_words = y_tics[p]
  tic_axis = "y"
  load share."tics.gp"
  tic_words = x_tics
  tic_axis = "x"
  load share."tics.gp"
  set xlabel size_label offset 0, 0.3
  set ylabel axis_label[p] offset -0.5, 0
  plot for [n = 1 : series] sprintf("fit_%d_%d.tsv", p, n) using 1:2 with lines lw 1.6 dt (8,5) lc rgb colour[n], \
       for [n = 1 : series] sprintf("series_%d_%d.tsv", p, n) using 1:2:3:4 with yerrorbars pt marker[n] ps 1.1 lw 1.6 lc rgb colour[n]
}
unset multiplot
