// SPDX-License-Identifier: MIT
// uftrace: entry and exit of a function compiled with -pg.  uftrace.py records and counts the
// calls.
#include "rounds.hpp"

// The only traced function in the measured loop; the rest of the file is outside of it or inlined.
extern "C" [[gnu::noinline]] void rival_event()
{
    __asm__ volatile("" ::: "memory");
}

[[gnu::noinline, gnu::no_instrument_function]] static void untraced()
{
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
    const rival::Plan plan = rival::plan_of(argc, argv);
    const rival::Cost cost = rival::measure(
        plan, [] { rival_event(); }, [] { untraced(); });
    rival::print(
        {"rival_uftrace_ns", "uftrace", "its own cost, included in the traced function's time",
         "gcc -pg; half a call: entry and exit are one event each; the call itself is subtracted",
         2},
        cost);
    return 0;
}
