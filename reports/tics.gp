# SPDX-License-Identifier: MIT
# tics.gp: marks of one axis. In: tic_words (words LABEL=VALUE), tic_axis ("x", "y" or "x2").
# A percent sign in a label is doubled: gnuplot reads tic labels as formats.
do for [tic_i = 1 : words(tic_words)] {
  tic_word = word(tic_words, tic_i)
  tic_at = strstrt(tic_word, "=")
  tic_text = tic_word[1 : tic_at - 1]
  if (tic_text[strlen(tic_text) : *] eq "%") { tic_text = tic_text."%" }
  tic_value = real(tic_word[tic_at + 1 : *])
  if (tic_axis eq "x") { if (tic_i == 1) { set xtics nomirror (tic_text tic_value) } else { set xtics add (tic_text tic_value) } }
  if (tic_axis eq "y") { if (tic_i == 1) { set ytics nomirror (tic_text tic_value) } else { set ytics add (tic_text tic_value) } }
  if (tic_axis eq "x2") { if (tic_i == 1) { set x2tics nomirror (tic_text tic_value) } else { set x2tics add (tic_text tic_value) } }
}
