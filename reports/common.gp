# SPDX-License-Identifier: MIT
# common.gp: fonts, colours, sizes of every picture. In: kind, output_name, width_px, height_px, foot_px, top_px.
set encoding utf8
set datafile separator "\t"
set datafile commentschars ""
set datafile missing "nan"

# A PNG has twice the pixels, so that it stays sharp on paper.
if (kind eq "png") {
  set terminal pngcairo noenhanced size 2*width_px, 2*height_px font "DejaVu Sans,11" fontscale 2 linewidth 2 pointscale 2 background "#ffffff"
} else {
  set terminal svg noenhanced size width_px, height_px font "sans-serif,14.6" background "#ffffff"
}
set output output_name

ink = 0x222222
set linetype 1 lc rgb "#222222" lw 1
set border 3 lc rgb "#555555" lw 1
set tics nomirror out scale 0.5 textcolor rgb "#222222"
set grid lc rgb "#dddddd" lw 0.7 lt 1
set style fill solid 1.0 noborder
set boxwidth 1
set key off
set bars small

# PNG sizes are points, SVG sizes are pixels.
title_font = kind eq "png" ? "DejaVu Sans,14" : "sans-serif,18.5"
small_font = kind eq "png" ? "DejaVu Sans,9.5" : "sans-serif,12.6"

body_px = height_px - foot_px

# pixels from the top left corner -> screen coordinates
across(px) = px / (1.0 * width_px)
down(px) = 1 - px / (1.0 * height_px)
