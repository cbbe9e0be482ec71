// SPDX-License-Identifier: MIT
// An object with sites of its own, to be loaded and unloaded; SLICE_NAME tells its two builds apart.
#include <cstdint>

#include <nsprobe/probe.h>

// The probes take their name as it stands, so a name that is a macro needs one step more.
#define START(name) NET_SLICE_START(name)
#define STOP(name) NET_SLICE_STOP(name)

namespace
{
inline void inlined_twice()
{
    NET_SLICE_SCOPE(in_object);
}
} // namespace

// Four records.
extern "C" void object_work(std::uint64_t)
{
    inlined_twice();
    START(SLICE_NAME);
    STOP(SLICE_NAME);
}
