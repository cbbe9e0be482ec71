// SPDX-License-Identifier: MIT
// filter: random headers and packets: the filter accepts what a plain reading of the header does.
#include "support/catch.hpp"

#include <arpa/inet.h>
#include <pcap/pcap.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "header/filter.hpp"

using namespace snort2sids;

namespace
{
constexpr int kHeaders = 5000, kPackets = 200;
constexpr uint16_t kPorts[] = {0, 21, 22, 23, 79, 80, 81, 1023, 1024, 8080, 65535};
const std::vector<std::string> kNetworks = {
    "10.0.0.0/8",  "10.1.0.0/16", "10.1.2.3",      "192.168.0.0/16",
    "0.0.0.0/0",   "128.0.0.0/1", "10.1.2.3/32",   "2001:db8::/32",
    "2001:db8::1", "::/0",        "2001:db8::/48", "2001:db8::/33",
    "::/3",        "0.0.0.0/8",   "::1:0:0:0/70",  "any"};
const std::vector<std::string> kAddresses = {
    "10.0.0.1",      "10.1.2.3", "10.1.0.9", "192.168.7.7",     "127.0.0.1", "2001:db8::1",
    "2001:db8:1::2", "fe80::1",  "0.1.2.3",  "2001:db8:0:1::1", "::1:0:0:1"};

std::mt19937 &random_numbers()
{
    static std::mt19937 engine(26);
    return engine;
}

size_t below(size_t bound)
{
    return random_numbers()() % bound;
}

// An item of a list, and how often it is negated by itself and the lists around it.
struct Item {
    std::string text;
    bool is_negated;
};

struct ItemList {
    std::string text;
    std::vector<Item> items;
};

ItemList random_list(const std::vector<std::string> &words, bool is_negated, int depth)
{
    ItemList list;
    const bool has_mark = below(3) == 0;
    is_negated = is_negated != has_mark;
    list.text = has_mark ? "!" : "";
    if (depth == 0 || below(2) == 0) {
        const std::string &word = words[below(words.size())];
        return {list.text + word, {{word, is_negated}}};
    }
    list.text += "[";
    for (size_t i = 0, count = 1 + below(3); i < count; ++i) {
        const ItemList part = random_list(words, is_negated, depth - 1);
        list.text += (i > 0 ? "," : "") + part.text;
        list.items.insert(list.items.end(), part.items.begin(), part.items.end());
    }
    list.text += "]";
    return list;
}

// Snort's rule: one of the plain items, if there are any, and none of the negated ones.
template <class Matches> bool is_in(const ItemList &list, const Matches &matches)
{
    bool has_plain = false, is_listed = false;
    for (const Item &item : list.items) {
        if (item.is_negated && matches(item.text))
            return false;
        has_plain = has_plain || !item.is_negated;
        is_listed = is_listed || (!item.is_negated && matches(item.text));
    }
    return is_listed || !has_plain;
}

bool has_prefix(const uint8_t *one, const uint8_t *two, unsigned bits)
{
    for (unsigned i = 0; i < bits; ++i)
        if (((one[i / 8] ^ two[i / 8]) >> (7 - i % 8) & 1) != 0)
            return false;
    return true;
}

bool is_in_network(const std::string &address, const std::string &network)
{
    if (network == "any")
        return true;
    const bool is_ipv6 = network.find(':') != network.npos;
    if (is_ipv6 != (address.find(':') != address.npos))
        return false;
    const size_t slash = network.find('/');
    const int family = is_ipv6 ? AF_INET6 : AF_INET;
    uint8_t one[16], two[16];
    inet_pton(family, address.c_str(), one);
    inet_pton(family, network.substr(0, slash).c_str(), two);
    const unsigned bits = slash != network.npos ? unsigned(std::stoul(network.substr(slash + 1)))
                          : is_ipv6             ? 128
                                                : 32;
    return has_prefix(one, two, bits);
}

bool is_in_ports(uint16_t port, const std::string &range)
{
    const size_t colon = range.find(':');
    if (range == "any")
        return true;
    if (colon == range.npos)
        return port == std::stoul(range);
    return (colon == 0 || port >= std::stoul(range.substr(0, colon))) &&
           (colon + 1 == range.size() || port <= std::stoul(range.substr(colon + 1)));
}

struct TestPacket {
    std::string from, to;
    uint8_t protocol;
    uint16_t from_port, to_port;
    uint16_t fragment; // of IPv4: flags and offset; of IPv6: nonzero with a fragment header
    int tags;          // of VLANs
    std::string bytes;
};

void put(std::string &bytes, uint16_t value)
{
    bytes += char(value >> 8);
    bytes += char(value & 255);
}

std::string packet_bytes(const TestPacket &packet)
{
    const bool is_ipv6 = packet.from.find(':') != packet.from.npos;
    std::string bytes(12, '\2');
    for (int i = 0; i < packet.tags; ++i) {
        put(bytes, i == 0 && packet.tags == 2 ? 0x88a8 : 0x8100);
        put(bytes, uint16_t(7 + i));
    }
    put(bytes, is_ipv6 ? 0x86dd : 0x0800);
    uint8_t addresses[32];
    const int family = is_ipv6 ? AF_INET6 : AF_INET;
    const size_t size = is_ipv6 ? 16 : 4;
    inet_pton(family, packet.from.c_str(), addresses);
    inet_pton(family, packet.to.c_str(), addresses + size);
    const std::string pair(reinterpret_cast<const char *>(addresses), 2 * size);
    const bool has_options = !is_ipv6 && packet.from_port % 2 == 0;
    if (is_ipv6) {
        bytes += std::string("\x60\0\0\0\0\x28", 6);
        bytes += char(packet.fragment != 0 ? 44 : packet.protocol);
        bytes += '\x40' + pair;
        if (packet.fragment != 0) {
            bytes += char(packet.protocol);
            bytes += '\0';
            put(bytes, packet.fragment);
            bytes += std::string(4, '\7');
        }
    } else {
        bytes += has_options ? '\x46' : '\x45';
        bytes += std::string("\0\0\x3c\0\1", 5);
        put(bytes, packet.fragment);
        bytes += '\x40';
        bytes += char(packet.protocol);
        bytes += std::string(2, '\0') + pair + std::string(has_options ? 4 : 0, '\1');
    }
    put(bytes, packet.from_port);
    put(bytes, packet.to_port);
    return bytes + std::string(36, '\x50');
}

TestPacket random_packet()
{
    constexpr uint16_t kFragments[] = {0, 0, 0, 0x4000, 0x2000, 0x2001, 0x0005};
    constexpr uint16_t kFragments6[] = {0, 0, 0, 0x0001, 0x0100};
    TestPacket packet;
    do {
        packet.from = kAddresses[below(kAddresses.size())];
        packet.to = kAddresses[below(kAddresses.size())];
    } while ((packet.from.find(':') == std::string::npos) !=
             (packet.to.find(':') == std::string::npos));
    const bool is_ipv6 = packet.from.find(':') != std::string::npos;
    const uint8_t protocols[] = {6, 6, 17, 17, uint8_t(is_ipv6 ? 58 : 1), 47};
    packet.protocol = protocols[below(std::size(protocols))];
    packet.from_port = kPorts[below(std::size(kPorts))];
    packet.to_port = kPorts[below(std::size(kPorts))];
    packet.fragment = is_ipv6 ? kFragments6[below(std::size(kFragments6))]
                              : kFragments[below(std::size(kFragments))];
    packet.tags = below(2) == 0 ? 0 : int(below(3));
    packet.bytes = packet_bytes(packet);
    return packet;
}

struct TestHeader {
    std::string protocol, text;
    ItemList from, from_ports, to, to_ports;
    bool is_bidirectional;
};

TestHeader random_header()
{
    const std::vector<std::string> ports = {
        "80", "79:81", ":1023", "1024:", "21:23", "0", "65535", "any"};
    constexpr const char *kProtocols[] = {"ip", "tcp", "udp", "icmp"};
    const ItemList any = {"any", {{"any", false}}};
    TestHeader header;
    header.protocol = kProtocols[below(4)];
    const auto list = [&](const std::vector<std::string> &words) {
        return below(3) == 0 ? any : random_list(words, false, 2);
    };
    header.from = list(kNetworks);
    header.to = list(kNetworks);
    const bool has_ports = header.protocol == "tcp" || header.protocol == "udp";
    header.from_ports = has_ports ? list(ports) : any;
    header.to_ports = has_ports ? list(ports) : any;
    header.is_bidirectional = below(4) == 0;
    header.text = "alert " + header.protocol + " " + header.from.text + " " +
                  header.from_ports.text + (header.is_bidirectional ? " <> " : " -> ") +
                  header.to.text + " " + header.to_ports.text + " (";
    return header;
}

bool is_one_way(const TestHeader &header, const TestPacket &packet, bool is_back)
{
    const auto in = [](const ItemList &list, const std::string &address) {
        return is_in(list, [&](const std::string &one) { return is_in_network(address, one); });
    };
    const auto in_ports = [](const ItemList &list, uint16_t port) {
        return is_in(list, [&](const std::string &one) { return is_in_ports(port, one); });
    };
    return in(is_back ? header.to : header.from, packet.from) &&
           in(is_back ? header.from : header.to, packet.to) &&
           in_ports(is_back ? header.to_ports : header.from_ports, packet.from_port) &&
           in_ports(is_back ? header.from_ports : header.to_ports, packet.to_port);
}

bool is_expected(const TestHeader &header, const TestPacket &packet, bool sees_vlans)
{
    if (packet.tags > 0 && !sees_vlans)
        return false;
    const bool is_ipv6 = packet.from.find(':') != std::string::npos;
    const bool is_tcp = packet.protocol == 6, is_udp = packet.protocol == 17;
    const bool is_icmp = packet.protocol == 1 || packet.protocol == 58;
    const bool is_read = is_udp && !is_ipv6 ? (packet.fragment & 0x1fff) == 0
                         : is_ipv6          ? packet.fragment == 0
                                            : (packet.fragment & 0x3fff) == 0;
    if (header.protocol != "ip" && (!is_read || !((header.protocol == "tcp" && is_tcp) ||
                                                  (header.protocol == "udp" && is_udp) ||
                                                  (header.protocol == "icmp" && is_icmp))))
        return false;
    return is_one_way(header, packet, false) ||
           (header.is_bidirectional && is_one_way(header, packet, true));
}
} // namespace

TEST_CASE("the filter accepts exactly the packets that the header names", "[snort2sids][filter]")
{
    const std::unique_ptr<pcap_t, decltype(&pcap_close)> pcap(pcap_open_dead(DLT_EN10MB, 65535),
                                                              pcap_close);
    std::vector<TestPacket> packets;
    for (int i = 0; i < kPackets; ++i)
        packets.push_back(random_packet());
    uint64_t accepted = 0;
    for (int i = 0; i < kHeaders; ++i) {
        const TestHeader header = random_header();
        const bool sees_vlans = below(2) == 0;
        const auto filter = filter_of(read_header(header.text, Variables()), sees_vlans);
        bpf_program program{};
        if (filter) {
            INFO(header.text << " -> " << *filter);
            REQUIRE(pcap_compile(pcap.get(), &program, filter->c_str(), 1, PCAP_NETMASK_UNKNOWN) ==
                    0);
        }
        for (const TestPacket &packet : packets) {
            const auto size = uint32_t(packet.bytes.size());
            const pcap_pkthdr head{{}, size, size};
            const bool is_accepted =
                program.bf_len > 0 &&
                pcap_offline_filter(&program, &head,
                                    reinterpret_cast<const u_char *>(packet.bytes.data())) != 0;
            accepted += is_accepted ? 1 : 0;
            if (is_accepted != is_expected(header, packet, sees_vlans))
                FAIL(header.text << " -> " << filter.value_or("nothing") << ": protocol "
                                 << int(packet.protocol) << " " << packet.from << " "
                                 << packet.from_port << " > " << packet.to << " " << packet.to_port
                                 << " fragment " << packet.fragment << " tags " << packet.tags
                                 << ": accepted " << is_accepted);
        }
        pcap_freecode(&program);
    }
    CHECK(accepted > kHeaders * kPackets / 50); // the test sees both verdicts
    CHECK(accepted < kHeaders * kPackets / 2);
}
