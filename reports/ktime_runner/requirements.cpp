// SPDX-License-Identifier: MIT
// requirements: /proc/self/status and bpf(BPF_ENABLE_STATS).
#include "reports/ktime_runner/requirements.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <unistd.h>

#include "reports/ktime_runner/attached_program.hpp"
#include "reports/ktime_runner/icmp_sender.hpp"

namespace ktime_runner
{
namespace
{
struct Capability {
    int number;
    const char *name, *purpose;
};

constexpr std::array<Capability, 4> kRequired = {
    {{CAP_BPF, "CAP_BPF", "XDP programs and maps"},
     {CAP_NET_ADMIN, "CAP_NET_ADMIN", "attaching them to an interface"},
     {CAP_NET_RAW, "CAP_NET_RAW", "sending packets"},
     {CAP_SYS_ADMIN, "CAP_SYS_ADMIN", "the kernel's run statistics of BPF programs"}}};

uint64_t effective_capabilities()
{
    std::ifstream file("/proc/self/status");
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with("CapEff:"))
            return std::stoull(line.substr(line.find_first_of('\t') + 1), nullptr, 16);
    }
    return ~uint64_t{0}; // unknown: the kernel refuses later
}
} // namespace

void require_capabilities()
{
    const uint64_t have = effective_capabilities();
    std::string missing;
    for (const Capability &one : kRequired) {
        if (!(have >> one.number & 1))
            missing +=
                (missing.empty() ? "" : ", ") + std::string(one.name) + " (" + one.purpose + ")";
    }
    if (!missing.empty())
        throw Refusal("capabilities are missing: " + missing + "; run it as root");
}

StatisticsOn::StatisticsOn() : descriptor_(bpf_enable_stats(BPF_STATS_RUN_TIME))
{
    if (descriptor_ < 0)
        throw Refusal("this kernel has no run statistics of BPF programs: BPF_ENABLE_STATS, since "
                      "Linux 5.8: " +
                      std::string(std::strerror(errno)));
    const LoadedProgram program("none_0");
    const IcmpPacket packet = icmp_packet();
    program.test_run(packet.data(), packet.size());
    if (program.statistics().runs == 0) {
        close(descriptor_);
        throw Refusal("this kernel has no run statistics of BPF programs: it counted no run");
    }
}

StatisticsOn::~StatisticsOn()
{
    close(descriptor_);
}
} // namespace ktime_runner
