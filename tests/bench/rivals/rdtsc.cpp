// SPDX-License-Identifier: MIT
// The bare clock read, with which every other row of the table is compared.
#include "rounds.hpp"

int main(int argc, char **argv)
{
    const rival::Cost cost = rival::measure(rival::plan_of(argc, argv), rival::clock_read);
    rival::print({"rival_rdtsc_ns", "rdtsc, not stored",
                  "all: its own cost, storage, names, losses",
                  "a clock read whose value is discarded"},
                 cost);
    return 0;
}
