# SPDX-License-Identifier: MIT
# An experiment and its players -> trials, phase by phase.
