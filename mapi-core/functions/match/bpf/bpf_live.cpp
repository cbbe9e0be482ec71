// SPDX-License-Identifier: MIT
// Live filter: expression -> programs for packets of an interface.
#include "bpf_live.hpp"

#include <memory>

#include <linux/filter.h>

namespace mapi::match
{
namespace
{
constexpr int kSnaplenBytes = 262144;
constexpr uint16_t kRawIp = 101;
constexpr uint32_t kPacketType = uint32_t(SKF_AD_OFF + SKF_AD_PKTTYPE);
constexpr uint32_t kInterfaceIndex = uint32_t(SKF_AD_OFF + SKF_AD_IFINDEX);

bool is_answered_by_kernel(const bpf_insn &one)
{
    return BPF_CLASS(one.code) == BPF_LD && BPF_MODE(one.code) == BPF_ABS &&
           (one.k == kPacketType || one.k == kInterfaceIndex);
}
} // namespace

std::vector<bpf_insn> compile_live(const std::string &expression, uint16_t link_type)
{
    const std::unique_ptr<pcap_t, void (*)(pcap_t *)> handle(
        pcap_open_dead(link_type == kRawIp ? DLT_RAW : link_type, kSnaplenBytes), pcap_close);
    bpf_program program = {};
    if (!handle ||
        pcap_compile(handle.get(), &program, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
        return {};
    std::vector<bpf_insn> instructions(program.bf_insns, program.bf_insns + program.bf_len);
    pcap_freecode(&program);
    return instructions;
}

std::vector<bpf_insn> answer_live(std::vector<bpf_insn> instructions, uint8_t packet_type,
                                  uint32_t interface_index)
{
    for (bpf_insn &one : instructions) {
        if (is_answered_by_kernel(one))
            one = {BPF_LD | BPF_IMM, 0, 0, one.k == kPacketType ? packet_type : interface_index};
    }
    return instructions;
}
} // namespace mapi::match
