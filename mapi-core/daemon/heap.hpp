// SPDX-License-Identifier: MIT
// Heap: memory that clients have freed -> the system.
#pragma once

namespace mapi::daemon
{
// Before the first thread: few arenas, since threads come and go with clients and each arena keeps what was free in it; and tables of
// functions are mappings of their own, which go back when they are freed.
void keep_heap_small();

// All free pages.  Any thread.
void give_heap_back();
} // namespace mapi::daemon
