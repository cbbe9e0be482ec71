// SPDX-License-Identifier: MIT
// Heap: memory that clients have freed -> the system.
#pragma once

namespace mapi::daemon
{
// To be called before the first thread starts.  Limits the number of arenas, since threads come and
// go with clients and each arena keeps its free memory; and makes tables of functions separate
// mappings, which are returned when they are freed.
void keep_heap_small();

// Returns all free pages.  Any thread.
void give_heap_back();
} // namespace mapi::daemon
