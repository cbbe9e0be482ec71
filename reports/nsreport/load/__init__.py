# SPDX-License-Identifier: MIT
# load: loss against rate and the cost of a packet, by device: Tables 1 and 2 of SCAMPI D3.4.
