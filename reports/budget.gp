# SPDX-License-Identifier: MIT
# budget.gp: how much time is there for a packet? curve_N.tsv (bytes, ns), ends.tsv (bytes, ns, name), levels.tsv (bytes, ns, name), chosen.tsv (bytes, ns) -> picture
load share."common.gp"
set multiplot
load share."canvas.gp"
set lmargin at screen across(90)
set rmargin at screen across(width_px - right_px)
set tmargin at screen down(top_px + 6)
set bmargin at screen down(body_px - 68)
set logscale xy
set xrange [x_low : x_high]
set yrange [y_low : y_high]
tic_words = x_tics
tic_axis = "x"
load share."tics.gp"
tic_words = y_tics
tic_axis = "y"
load share."tics.gp"
set xlabel size_label offset 0, 0.3
set ylabel axis_label offset -0.5, 0
do for [n = 1 : levels] {
  set arrow n from x_low, level_ns[n] to x_high, level_ns[n] nohead lw 1.4 lc rgb level_colour dt 2
}
set label 1 chosen_text at graph 0.015, 0.94 left textcolor rgb colour[chosen]
set style textbox opaque noborder margins 0.3, 0.3
plot for [n = 1 : curves] sprintf("curve_%d.tsv", n) using 1:2 with lines lw (n == chosen ? 2.6 : 1.4) lc rgb colour[n], \
     "ends.tsv" using (x_high):2:3 with labels left offset 0.8, 0 font small_font textcolor rgb "#222222", \
     "levels.tsv" using 1:2:3 with labels right boxed offset -0.5, 0.6 font small_font textcolor rgb level_colour, \
     "chosen.tsv" using 1:2 with points pt 7 ps 1.4 lc rgb colour[chosen]
unset multiplot
