# SPDX-License-Identifier: MIT
# Conductor's master and player files -> a checked experiment.
