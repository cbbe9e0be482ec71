// SPDX-License-Identifier: MIT
// affinity: binds the thread to one CPU, or to all of its initial CPUs again.
#include "affinity.hpp"

namespace calibrate
{
Affinity::Affinity()
{
    CPU_ZERO(&all_);
    sched_getaffinity(0, sizeof(all_), &all_);
    one_ = all_;
}

bool Affinity::may_use(unsigned cpu) const
{
    return cpu < CPU_SETSIZE && CPU_ISSET(cpu, &all_);
}

bool Affinity::pin(unsigned cpu)
{
    CPU_ZERO(&one_);
    CPU_SET(cpu, &one_);
    return sched_setaffinity(0, sizeof(one_), &one_) == 0;
}

void Affinity::widen()
{
    sched_setaffinity(0, sizeof(all_), &all_);
}

void Affinity::narrow()
{
    sched_setaffinity(0, sizeof(one_), &one_);
}
} // namespace calibrate
