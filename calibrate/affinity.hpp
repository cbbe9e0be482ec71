// SPDX-License-Identifier: MIT
// affinity: binds the thread to one CPU, or to all of its initial CPUs again.
#pragma once

#include <sched.h>

namespace calibrate
{
class Affinity
{
public:
    Affinity();
    ~Affinity() { widen(); }
    Affinity(const Affinity &) = delete;
    Affinity &operator=(const Affinity &) = delete;

    bool may_use(unsigned cpu) const;
    bool pin(unsigned cpu); // false: the kernel refused
    void widen();
    void narrow(); // to the CPU of the last pin()

private:
    cpu_set_t all_;
    cpu_set_t one_;
};
} // namespace calibrate
