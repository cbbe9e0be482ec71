# SPDX-License-Identifier: MIT
# find_package(mapi) -> netslice::mapi
include("${CMAKE_CURRENT_LIST_DIR}/mapi-targets.cmake")
