// SPDX-License-Identifier: MIT
// softirq_meter without libbpf.
#include "mapi_reader/softirq_meter.hpp"

namespace mapi_reader
{
struct SoftirqMeter::Programs {
};

SoftirqMeter::SoftirqMeter() : why_not_("built without libbpf") {}
SoftirqMeter::~SoftirqMeter() = default;

std::vector<uint64_t> SoftirqMeter::read_ns() const
{
    return {};
}
} // namespace mapi_reader
