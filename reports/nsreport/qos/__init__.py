# SPDX-License-Identifier: MIT
# nsreport --qos: delay and loss that a QoS monitor measures, against those that a node made.
