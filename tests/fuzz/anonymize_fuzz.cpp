// SPDX-License-Identifier: MIT
// Fuzz target: a rule, a link type, a buffer size and any bytes as a packet -> no byte read or
// written outside packet and buffer.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "anonymize/anonymizer.hpp"

namespace
{
using namespace mapi::anonymize;

// Every way to find a field, each with a function that keeps the length and one that does not.
constexpr const char *kRules[] = {
    "IP,SRC_IP,PREFIX_PRESERVING",
    "IP,DST_IP,ZERO",
    "IP,OPTIONS,STRIP",
    "IP,FLOW,MAP",
    "IP,ID,RANDOM",
    "IP,PAYLOAD,REPLACE,x",
    "TCP,TCP_OPTIONS,STRIP,4",
    "TCP,SRC_PORT,ZERO",
    "TCP,PAYLOAD,STRIP,3",
    "UDP,PAYLOAD,REPLACE,something that is longer",
    "ICMP,PAYLOAD,STRIP",
    "HTTP,URI,REPLACE,/something/longer",
    "HTTP,COOKIE,STRIP",
    "HTTP,PAYLOAD,ZERO",
    "HTTP,HOST,REGEXP,(a)(.*),2,b,NULL",
    "FTP,USER,STRIP",
    "FTP,PASS,REPLACE,longer than it was",
    "FTP,FTP_RESPONSE_ARG,FILENAME_RANDOM",
    "IP,CHECKSUM,CHECKSUM_ADJUST",
};

Anonymizer &anonymizer_of(uint8_t number)
{
    static Tables tables(1, 1000);
    static std::vector<std::unique_ptr<Anonymizer>> anonymizers;
    if (anonymizers.empty())
        for (const char *rule : kRules)
            anonymizers.push_back(std::make_unique<Anonymizer>(parse_rule(rule), tables, 1));
    return *anonymizers[number % anonymizers.size()];
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static constexpr uint16_t kLinkTypes[] = {1, 101, 0, 9, 50, 104, 113, 276};
    if (size < 4)
        return 0;
    std::vector<uint8_t> memory(data + 4, data + size);
    MutablePacket packet;
    packet.caplen = uint32_t(memory.size());
    packet.wire_len = packet.caplen + data[1] % 2;
    memory.resize(memory.size() + data[2] % 64);
    memory.shrink_to_fit(); // exactly this length, so that an access beyond it is detected
    packet.data = memory.data();
    packet.room = uint32_t(memory.size());
    packet.link_type = kLinkTypes[data[3] % std::size(kLinkTypes)];
    anonymizer_of(data[0]).apply(packet);
    if (packet.caplen > packet.room || packet.wire_len < packet.caplen ||
        packet.data != memory.data())
        abort();
    return 0;
}
