# SPDX-License-Identifier: MIT
# The machine, and what else it does while trials run.
