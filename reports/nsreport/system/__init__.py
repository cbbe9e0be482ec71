# SPDX-License-Identifier: MIT
# system: this machine with and without the kernel module -> figures, pictures and tables.
