# SPDX-License-Identifier: MIT
# What a packet may cost at a line rate, beside what functions and loads from memory take.
