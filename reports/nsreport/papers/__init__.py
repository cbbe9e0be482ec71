# SPDX-License-Identifier: MIT
# papers: every table and figure of the documents that the toolkit follows, made again on one page.
