// SPDX-License-Identifier: MIT
// Slices: function name -> its slice, one per process.
#pragma once

#include <string>

struct nsp_slice;

namespace mapi::engine
{
// A slice lives until the process ends, so that each name gets only one, however often flows apply
// the function.  Any thread.  Throws Error when out of memory.  Null if probes are compiled out.
nsp_slice *slice_of(const std::string &name);
} // namespace mapi::engine
