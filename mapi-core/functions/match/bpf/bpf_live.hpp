// SPDX-License-Identifier: MIT
// Live filter: an expression about facts that only the kernel knows of a packet ("inbound",
// "ifindex 2") -> programs with the answers filled in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pcap/pcap.h>

namespace mapi::match
{
// Compiles as libpcap does for an interface, with loads that the kernel answers (SKF_AD_PKTTYPE,
// SKF_AD_IFINDEX).  Empty if the expression is invalid there as well.  link_type: LINKTYPE_ number
// of the interface.
std::vector<bpf_insn> compile_live(const std::string &expression, uint16_t link_type);

// The same program with these loads replaced by constants: a packet type of <linux/if_packet.h> and
// an interface number.
std::vector<bpf_insn> answer_live(std::vector<bpf_insn> instructions, uint8_t packet_type,
                                  uint32_t interface_index);
} // namespace mapi::match
