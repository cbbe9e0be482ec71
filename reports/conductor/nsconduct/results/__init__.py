# SPDX-License-Identifier: MIT
# The folder of results: written trial by trial, and read again.
