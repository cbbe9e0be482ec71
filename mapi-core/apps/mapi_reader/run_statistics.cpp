// SPDX-License-Identifier: MIT
// run_statistics: bpf(BPF_ENABLE_STATS), since Linux 5.8.
#include "mapi_reader/run_statistics.hpp"

#include <cerrno>
#include <cstring>

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mapi_reader
{
RunStatistics::RunStatistics()
{
    bpf_attr attributes;
    std::memset(&attributes, 0, sizeof(attributes));
    attributes.enable_stats.type = BPF_STATS_RUN_TIME;
    descriptor_ = int(syscall(SYS_bpf, BPF_ENABLE_STATS, &attributes, sizeof(attributes)));
    if (descriptor_ < 0)
        why_not_ = std::strerror(errno);
}

RunStatistics::~RunStatistics()
{
    if (descriptor_ >= 0)
        close(descriptor_);
}
} // namespace mapi_reader
