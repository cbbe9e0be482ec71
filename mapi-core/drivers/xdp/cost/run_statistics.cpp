// SPDX-License-Identifier: MIT
// Calls of bpf(2) -> statistics of programs.
#include "drivers/xdp/cost/run_statistics.hpp"

#include <cerrno>
#include <cstring>

#include <bpf/bpf.h>
#include <linux/bpf.h>

namespace mapi::drivers::xdp
{
namespace
{
[[noreturn]] void fail(const std::string &what, const char *capability)
{
    const int number = errno;
    const std::string remedy =
        number == EPERM ? std::string(" (requires the capability ") + capability + ")" : "";
    throw KernelRefusal(what + ": " + std::strerror(number) + remedy, number);
}
} // namespace

// CAP_BPF and CAP_PERFMON are not enough for this call.
RunStatistics::RunStatistics() : enabled_(bpf_enable_stats(BPF_STATS_RUN_TIME))
{
    if (!enabled_.is_open())
        fail("BPF_ENABLE_STATS", "CAP_SYS_ADMIN");
}

ProgramFacts facts_of(int program)
{
    bpf_prog_info info = {};
    uint32_t bytes = sizeof(info);
    if (bpf_obj_get_info_by_fd(program, &info, &bytes) != 0)
        fail("BPF_OBJ_GET_INFO_BY_FD", "CAP_BPF");
    return {info.run_cnt, info.run_time_ns, uint32_t(info.xlated_prog_len / sizeof(bpf_insn)),
            info.jited_prog_len};
}
} // namespace mapi::drivers::xdp
