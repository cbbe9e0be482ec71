# SPDX-License-Identifier: MIT
# traffic: generated packets through a veth pair -> what readers of the other end lose and use.
