# SPDX-License-Identifier: MIT
# Parts of nsreport: input -> checked document -> pictures -> page.
