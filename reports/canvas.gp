# SPDX-License-Identifier: MIT
# canvas.gp: title, legend and foot of the whole picture, first plot of each multiplot. In: picture_title, legend.tsv, legend_rows, foot.tsv.
set lmargin at screen 0; set rmargin at screen 1
set tmargin at screen 1; set bmargin at screen 0
unset border; unset tics; unset grid
set xrange [0:width_px]; set yrange [height_px:0]
set label 9999 picture_title at 24, 22 left font title_font textcolor rgb "#222222"
if (legend_rows > 0) {
  plot "legend.tsv" using 1:2:3:4 with points pt variable ps 1.1 lc rgb variable, \
       "legend.tsv" using 1:2:5 with labels left offset 1.2, 0 textcolor rgb "#222222", \
       "foot.tsv" using 1:2:3 with labels left font small_font textcolor rgb "#555555"
} else {
  plot "foot.tsv" using 1:2:3 with labels left font small_font textcolor rgb "#555555"
}
unset label 9999
set border 3
set tics nomirror out scale 0.5 textcolor rgb "#222222"
set xtics nomirror
set ytics nomirror
set grid lc rgb "#dddddd" lw 0.7 lt 1
set xrange [*:*]; set yrange [*:*]
