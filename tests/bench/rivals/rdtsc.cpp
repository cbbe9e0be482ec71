// SPDX-License-Identifier: MIT
// The bare clock read: what every other row of the table is held against.
#include "rounds.hpp"

int main(int argc, char **argv)
{
    const rival::Cost cost = rival::measure(rival::plan_of(argc, argv), rival::clock_read);
    rival::print({"rival_rdtsc_ns", "rdtsc, not stored", "all: its own cost, storage, names, losses",
                  "a clock read whose value is thrown away"},
                 cost);
    return 0;
}
