# SPDX-License-Identifier: MIT
# trace: statistics and slices of a trace -> pictures, tables and head of its page.
