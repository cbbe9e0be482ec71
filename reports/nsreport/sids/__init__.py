# SPDX-License-Identifier: MIT
# nsreport --sids: load and loss of an intrusion detection system by its number of rules.
