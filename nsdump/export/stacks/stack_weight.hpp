// SPDX-License-Identifier: MIT
// stacks: what --weight names -> the value of a slice, or why it has none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyse/correct/slice_net.hpp"
#include "analyse/pair/slice.hpp"
#include "decode/file_reader.hpp"

namespace nsdump
{
struct StackWeight {
    enum class Kind { net_ticks, net_ns, raw_ns, counter };

    Kind kind = Kind::net_ns;
    bool is_of_kernel = false; // counters only: whose
    size_t counter = 0;
    double ns_per_tick = 1;

    bool is_time() const { return kind == Kind::net_ns || kind == Kind::raw_ns; }
    // Net values leave out interrupts; the time of one is not part of the slice around it.
    bool nests_interrupts() const { return kind == Kind::raw_ns; }
    // "net ns", "net ticks", "raw ns" or "net NAME".
    std::string words(const TraceFile &trace) const;
    // "ns", "ticks" or the counter's name.
    std::string unit(const TraceFile &trace) const;
};

// `text`: net-ticks, net-ns, raw-ns, or the name of a counter, with the prefix kernel: for the
// kernel's.  None if the trace has no such counter, or its clock's rate is unknown; `why` then says
// so, with what is there.
std::optional<StackWeight> stack_weight(const TraceFile &trace, const std::string &text,
                                        std::string &why);

struct SliceWeight {
    bool is_known = false;
    double value = 0;
    double raw = 0;
};
SliceWeight weight_of(const StackWeight &weight, const Correction &correction, const Slice &slice,
                      bool is_kernel);
} // namespace nsdump
