# SPDX-License-Identifier: MIT
# line_rate.gp: which line can one core keep up with? dots.tsv (packets/s, row, low, high), lines.tsv (packets/s, name), rows.tsv -> picture
load share."common.gp"
set multiplot
load share."canvas.gp"
p = 1
load share."panels.gp"
set rmargin at screen across(width_px - right_px)
set tmargin at screen down(top_px + line_px)
set logscale x
set xrange [x_low[1] : x_high[1]]
do for [n = 1 : lines] {
  dash = line_dash[n] ? 2 : 1
  set arrow n from line_rate[n], 0.5 to line_rate[n], rows + 0.5 nohead lw 1.4 lc rgb line_colour[n] dt dash
  set label n line_name[n] at first line_rate[n], screen down(top_px + line_px - 12) left rotate by 35 font small_font textcolor rgb "#222222"
}
plot "dots.tsv" using 1:2:3:4 with xerrorbars pt 7 ps 1.2 lw 1.6 lc rgb measured, \
     "values.tsv" using (x_high[1]):1:2 with labels left offset 0.8, 0 font small_font textcolor rgb "#222222", \
     "rows.tsv" using (x_low[1]):1:2 with labels right offset -1, 0 textcolor rgb "#222222", \
     "rows_small.tsv" using (x_low[1]):1:2 with labels right offset -1.2, 0 font small_font textcolor rgb "#222222"
unset multiplot
