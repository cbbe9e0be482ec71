# SPDX-License-Identifier: MIT
# panels.gp: places panel p of `panels` side by side, rows from top to bottom. In: p, panels, label_px, rows, bottom_px, gap_px.
panel_px = (width_px - label_px - 24 - gap_px * (panels - 1)) / (1.0 * panels)
left_px = label_px + (p - 1) * (panel_px + gap_px)
set lmargin at screen across(left_px)
set rmargin at screen across(left_px + panel_px)
set tmargin at screen down(top_px)
set bmargin at screen down(body_px - bottom_px)
set yrange [rows + 0.5 : 0.5]
unset ytics
set grid x; set grid noy
set border 1
set xlabel axis_label[p] offset 0, 0.3 textcolor rgb "#222222"
tic_words = x_tics[p]
tic_axis = "x"
load share."tics.gp"
