// SPDX-License-Identifier: MIT
// An object with its own sites, to be loaded and unloaded; SLICE_NAME distinguishes its two builds.
#include <cstdint>

#include <nsprobe/probe.h>

// The probes use the name as written, so a name that is a macro needs another level of expansion.
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
extern "C" void object_work(uint64_t)
{
    inlined_twice();
    START(SLICE_NAME);
    STOP(SLICE_NAME);
}
