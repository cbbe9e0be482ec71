# SPDX-License-Identifier: MIT
# Name of a collector, as in [Collectors] -> class.

COLLECTORS = {}
