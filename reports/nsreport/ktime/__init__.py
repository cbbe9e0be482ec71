# SPDX-License-Identifier: MIT
# ktime: why bpf_ktime_get_ns() and the kernel's run statistics disagree on the time of a program.
