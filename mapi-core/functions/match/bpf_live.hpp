// SPDX-License-Identifier: MIT
// Live filter: an expression that asks what the kernel alone knows of a packet ("inbound", "ifindex 2") -> programs that are told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pcap/pcap.h>

namespace mapi::match
{
// As libpcap compiles for an interface: with loads that the kernel answers (SKF_AD_PKTTYPE, SKF_AD_IFINDEX).  Empty: the expression means nothing
// there.  link_type: a LINKTYPE_ number of an interface.
std::vector<bpf_insn> compile_live(const std::string &expression, uint16_t link_type);

// The same where all such loads are answered: by a packet type of <linux/if_packet.h> and the number of an interface.
std::vector<bpf_insn> answer_live(std::vector<bpf_insn> instructions, uint8_t packet_type, uint32_t interface_index);
} // namespace mapi::match
