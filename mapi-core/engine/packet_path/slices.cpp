// SPDX-License-Identifier: MIT
// Slices: function name -> its slice.
#include "engine/packet_path/slices.hpp"

#include <map>
#include <mutex>

#include <nsprobe/probe.h>

#include "engine/error.hpp"

namespace mapi::engine
{
#ifdef NETSLICE_DISABLE
nsp_slice *slice_of(const std::string &)
{
    return nullptr;
}
#else
nsp_slice *slice_of(const std::string &name)
{
    static std::mutex mutex;
    static std::map<std::string, nsp_slice *> slices;
    const std::lock_guard lock(mutex);
    nsp_slice *&slice = slices[name];
    if (!slice)
        slice = NET_SLICE_CREATE(name.c_str());
    if (!slice)
        throw Error(MAPI_INTERNAL_ERROR, name + ": out of memory for its slice");
    return slice;
}
#endif
} // namespace mapi::engine
