// SPDX-License-Identifier: MIT
// softirq_meter: how long each CPU is in the softirq that receives packets.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mapi_reader
{
// Two BPF programs at the kernel's tracepoints softirq_entry and softirq_exit add up the time
// between them, for NET_RX: wall-clock time, in which hard interrupts and time that a hypervisor
// took (steal) are included, and all packets of the machine.
class SoftirqMeter
{
public:
    SoftirqMeter();
    ~SoftirqMeter();
    SoftirqMeter(const SoftirqMeter &) = delete;
    SoftirqMeter &operator=(const SoftirqMeter &) = delete;

    // By CPU; empty if it cannot be measured.
    std::vector<uint64_t> read_ns() const;
    // Why it cannot be measured; empty if it can.
    const std::string &why_not() const { return why_not_; }

private:
    struct Programs;

    std::unique_ptr<Programs> programs_;
    std::string why_not_;
};
} // namespace mapi_reader
