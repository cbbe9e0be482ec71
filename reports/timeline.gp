# SPDX-License-Identifier: MIT
# timeline.gp: what happens when, inside one unit? bars.tsv (from, to, row, colour), inside.tsv (x, row, text), rows.tsv -> picture
load share."common.gp"
set multiplot
load share."canvas.gp"
half = 0.4
set lmargin at screen across(label_px)
set rmargin at screen across(width_px - 40)
set tmargin at screen down(top_px + (has_time ? 62 : 6))
set bmargin at screen down(body_px - 68)
set xrange [0 : x_high]
set yrange [rows + 0.5 : 0.5]
unset ytics
set grid x; set grid noy
set border 1
tic_words = x_tics
tic_axis = "x"
load share."tics.gp"
set xlabel axis_label offset 0, 0.3
if (has_time) {
  set border 5
  set x2range [0 : x_high * time_factor]
  tic_words = x2_tics
  tic_axis = "x2"
  load share."tics.gp"
  set x2label time_label offset 0, -0.3
}
plot "bars.tsv" using 1:3:1:2:($3-half):($3+half):4 with boxxyerror lc rgb variable fs solid 1.0 border lc rgb "#ffffff", \
     "inside.tsv" using 1:2:3 with labels center font small_font textcolor rgb "#ffffff", \
     "inside_dark.tsv" using 1:2:3 with labels center font small_font textcolor rgb "#222222", \
     "rows.tsv" using (0):1:2 with labels right offset -1, 0 textcolor rgb "#222222", \
     "rows_small.tsv" using (0):1:2 with labels right offset -1.2, 0 font small_font textcolor rgb "#222222"
unset multiplot
