# SPDX-License-Identifier: MIT
# placement: CPU share by where functions run, in the kernel or in programs: the evaluation of MAPI
# in the kernel (Xinidis, 2004), figures 2.1 to 2.10.
