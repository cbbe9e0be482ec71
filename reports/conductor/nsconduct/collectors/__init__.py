# SPDX-License-Identifier: MIT
# What is measured on a player beside its steps.
