// SPDX-License-Identifier: MIT
// cli: waiting that a signal ends.
#pragma once

#include <ctime>

namespace nsdump
{
// Returns after `milliseconds`, or when a signal comes.
inline void pause_for(int milliseconds)
{
    const timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, nullptr);
}
} // namespace nsdump
