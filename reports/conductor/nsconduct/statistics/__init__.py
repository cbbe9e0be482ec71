# SPDX-License-Identifier: MIT
# Samples -> summaries and comparisons.
