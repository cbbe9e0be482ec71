# SPDX-License-Identifier: MIT
# nsconduct: master and player files -> trials on players -> folder of results.
