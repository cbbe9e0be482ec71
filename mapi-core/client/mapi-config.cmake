# SPDX-License-Identifier: MIT
# find_package(mapi) -> netslice::mapi
include(CMakeFindDependencyMacro)
find_dependency(nsprobe) # the packet path is instrumented; the linker wants to see what libmapi needs
include("${CMAKE_CURRENT_LIST_DIR}/mapi-targets.cmake")
