// SPDX-License-Identifier: MIT
// make_parts_trace FILE: a trace of one second whose rare slices and units lie further apart than a
// part is read before it begins, with a unit, frames and losses that begin near them and end
// between them; to be read in parts.
#include <cstdio>

#include "support/trace_builder.hpp"

using test_support::TraceBuilder;

namespace
{
constexpr uint64_t kMicrosecond = 1000; // in ticks
constexpr uint64_t kMillisecond = 1000 * kMicrosecond;

struct Sites {
    uint16_t unit, parse, rare, outer, early, length;
};

class PartsTrace
{
public:
    PartsTrace()
    {
        trace_.info(test_support::plain_info(1e9));
        trace_.calibration(NSLICE_CALIBRATION_START, 0, 0, {});
        sites_ = {trace_.site("batch", NSLICE_KIND_INIT),
                  trace_.site("parse"),
                  trace_.site("rare"),
                  trace_.site("outer"),
                  trace_.site("early"),
                  trace_.site("length", NSLICE_KIND_MARK)};
    }

    void write(const char *path)
    {
        for (uint64_t at_ms = 5; at_ms < 1000; at_ms += 5)
            moment(at_ms);
        trace_.lose(1, NSLICE_LOST_FULL, 9); // at the end of the recording
        trace_.footer(NSLICE_END_CLOSED, 1000 * kMillisecond, 1000 * kMillisecond);
        trace_.write(path);
    }

private:
    void moment(uint64_t at_ms)
    {
        const uint64_t at = at_ms * kMillisecond;
        for (const uint32_t cpu : {0, 1}) {
            trace_.start(cpu, 100 + cpu, sites_.parse, at + cpu);
            trace_.mark(cpu, 100 + cpu, sites_.length, at + 20 + cpu, at_ms);
            trace_.stop(cpu, 100 + cpu, sites_.parse, at + 50 + cpu);
        }
        if (at_ms % 300 == 200)
            rare(at + kMillisecond, at_ms);
        if (at_ms == 260) { // in the gap
            trace_.stop(0, 1, sites_.outer, at + kMillisecond);
            trace_.exit(0, 1, sites_.unit, at + 2 * kMillisecond);
        }
        if (at_ms == 600)
            trace_.start(0, 3, sites_.outer, at + kMillisecond);
        if (at_ms == 850) { // the slice began long before the unit
            trace_.init(0, 3, sites_.unit, at + kMillisecond, 9, 1, 64);
            trace_.stop(0, 3, sites_.outer, at + kMillisecond + 10);
            trace_.exit(0, 3, sites_.unit, at + kMillisecond + 20);
        }
        if (at_ms == 350) // also in the gap
            trace_.lose(1, NSLICE_LOST_FULL, 5);
        trace_.cut_all();
    }

    void rare(uint64_t at, uint64_t number)
    {
        if (number == 200) {
            trace_.init(0, 1, sites_.unit, at, 7, 1, 64);
            trace_.start(0, 1, sites_.outer, at + 10);
            trace_.start(0, 1, sites_.early, at + 15); // has no STOP
        }
        if (number == 500) { // on another thread, with the loss of records inside of it
            trace_.init(1, 2, sites_.unit, at, 8, 1, 64);
            trace_.start(1, 2, sites_.rare, at + 10);
            trace_.stop(1, 2, sites_.rare, at + 20);
            trace_.lose(1, NSLICE_LOST_FULL, 3);
            trace_.exit(1, 2, sites_.unit, at + 30);
        }
        trace_.start(0, 1, sites_.rare, at + 40);
        trace_.start(1, 2, sites_.rare, at + 50); // while the other is open
        trace_.stop(1, 2, sites_.rare, at + 60);
        trace_.stop(0, 1, sites_.rare, at + 700 * kMicrosecond);
    }

    TraceBuilder trace_;
    Sites sites_{};
};
} // namespace

int main(int count, char **words)
{
    if (count != 2) {
        std::fputs("usage: make_parts_trace FILE\n", stderr);
        return 2;
    }
    PartsTrace().write(words[1]);
    return 0;
}
