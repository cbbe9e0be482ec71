# SPDX-License-Identifier: MIT
# cost: a JSON of mapi-cost -> pictures, tables and head of its page.
