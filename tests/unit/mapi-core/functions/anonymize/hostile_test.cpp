// SPDX-License-Identifier: MIT
// Hostile packets: bytes changed and lengths truncated at random, every rule, and no byte read or
// written outside packet and buffer.
#include <netinet/in.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "packets.hpp"
#include "support/catch.hpp"

using namespace anonymize_test;
using namespace mapi::anonymize;

namespace
{
// Memory between two inaccessible pages.
class Guarded
{
public:
    Guarded() : page_(size_t(sysconf(_SC_PAGESIZE))), bytes_(page_ * 4)
    {
        memory_ = static_cast<uint8_t *>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(memory_ != MAP_FAILED);
        mprotect(memory_, page_, PROT_NONE);
        mprotect(memory_ + bytes_ - page_, page_, PROT_NONE);
    }
    ~Guarded() { munmap(memory_, bytes_); }
    Guarded(const Guarded &) = delete;

    uint8_t *first() const { return memory_ + page_; }
    uint8_t *end() const { return memory_ + bytes_ - page_; }

private:
    size_t page_, bytes_;
    uint8_t *memory_;
};

// Parameters that make sense for each function.
const char *const kMethods[] = {
    "MAP",
    "MAP_DISTRIBUTION,UNIFORM,0,70000",
    "MAP_DISTRIBUTION,GAUSSIAN,100,50",
    "STRIP",
    "STRIP,5",
    "RANDOM",
    "FILENAME_RANDOM",
    "HASHED,MD5,STRIP_REST",
    "HASHED,SHA,PAD_WITH_ZERO",
    "HASHED,SHA_2,STRIP_REST,00",
    "HASHED,CRC32,UNCHANGED",
    "HASHED,AES,STRIP_REST",
    "HASHED,TRIPLEDES,PAD_WITH_ZERO",
    "PATTERN_FILL,STR,pattern",
    "ZERO",
    "REPLACE,a replacement that is rather long",
    "PREFIX_PRESERVING",
    "PREFIX_PRESERVING_MAP",
    "REGEXP,(.)(.*),2,one,the other",
    "CHECKSUM_ADJUST",
};

std::vector<Rule> all_rules()
{
    std::vector<Rule> rules{address_rule(std::string(32, 'k'))};
    for (const char *protocol : {"IP", "TCP", "UDP", "ICMP", "HTTP", "FTP"})
        for (int field = 0; field < int(Field::kBothAddresses); ++field)
            for (const char *method : kMethods)
                try {
                    rules.push_back(parse_rule(std::string(protocol) + "," +
                                               std::string(name_of(Field(field))) + "," + method));
                } catch (const RuleError &) {
                }
    return rules;
}

std::vector<Bytes> seeds()
{
    const Bytes http = tcp(text("GET /a HTTP/1.1\r\nHost: h\r\nCookie: c\r\n d\r\n\r\nHTTP/1.1 200 "
                                "OK\r\nContent-Length: 2\r\n\r\nab"),
                           1025, 80, hex("020405b4"));
    const Bytes ftp = tcp(text("USER joe\r\nPASS x\r\nPORT 1,2,3,4,5,6\r\n"), 1025, 21);
    const Bytes reply = tcp(text("220-Hi\r\nthere\r\n220 Done\r\n"), 21, 1025);
    const Bytes datagram = ipv4(IPPROTO_UDP, udp(text("payload")),
                                hex("83070401 02030444 0c050101 02030400 0000aa00"));
    return {
        ethernet(0x0800, ipv4(IPPROTO_TCP, http)),
        ethernet(0x86dd, ipv6(IPPROTO_TCP, ftp)),
        ethernet(0x8100, hex("0001 0800") + ipv4(IPPROTO_TCP, reply)),
        ethernet(0x0800, ipv4(IPPROTO_ICMP, icmp(3, ipv4(IPPROTO_ICMP, icmp(11, datagram))))),
        ethernet(0x86dd,
                 ipv6(IPPROTO_ICMPV6, icmp(1, ipv6(IPPROTO_FRAGMENT,
                                                   hex("11 00 0001 0a0b0c0d") + udp(text("x")))))),
        ethernet(0x0800,
                 ipv4(IPPROTO_GRE, hex("b000 86dd 12340000 00000001 00000002") +
                                       ipv6(IPPROTO_HOPOPTS, hex("0600 0104 00000000") + http))),
        ethernet(
            0x86dd,
            ipv6(IPPROTO_ROUTING,
                 hex("3a 02 00 01 00000000") + Bytes(16, 7) +
                     icmp(137, Bytes(32, 9) +
                                   hex("0402 0000 00000000 60000000 00000000 1903 0000 00000000") +
                                   Bytes(16, 5)))),
        ethernet(0x86dd, ipv6(IPPROTO_ICMPV6, icmp(143, hex("04 00 0001") + Bytes(32, 7)))),
        ethernet(0x0800, ipv4(IPPROTO_UDP, udp(hex("34ff0000 00000001 00000085 01000000") +
                                                   ipv4(IPPROTO_TCP, reply),
                                               1, 2152))),
        ethernet(0x0800,
                 ipv4(IPPROTO_UDP,
                      udp(hex("4a02 0030 0001 0001 0001 0001 0002 0000 ff03 0021") + datagram, 1,
                          1701))),
        ethernet(0x0800, ipv4(IPPROTO_UDP, udp(hex("02006558 00000100") + Bytes(8, 0) +
                                                   ethernet(0x0800, datagram),
                                               1, 6081))),
        ethernet(0x8847, hex("00010140") + ipv4(IPPROTO_IPIP, datagram)),
        ethernet(0x0806, hex("0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002")),
    };
}

Bytes mutated(const Bytes &seed, std::mt19937 &random)
{
    Bytes bytes = seed;
    for (unsigned i = random() % 6; i > 0; --i) {
        uint8_t &byte = bytes[random() % bytes.size()];
        byte = random() % 3 ? uint8_t(random()) : uint8_t(random() % 2 ? 0 : 0xff);
    }
    if (random() % 2)
        bytes.resize(random() % (bytes.size() + 1));
    return bytes;
}

void check_packet(const MutablePacket &packet, const MutablePacket &before)
{
    if (packet.data != before.data || packet.room != before.room || packet.caplen > packet.room ||
        packet.wire_len < packet.caplen)
        FAIL("caplen " << packet.caplen << " of " << packet.room);
}
} // namespace

TEST_CASE("no rule reads or writes outside a packet and its buffer, whatever the packet contains",
          "[mapi-core][anonymize]")
{
    const std::vector<Rule> rules = all_rules();
    CHECK(rules.size() > 1500);
    Tables tables(1, 100);
    std::vector<std::unique_ptr<Anonymizer>> anonymizers;
    for (const Rule &rule : rules)
        anonymizers.push_back(std::make_unique<Anonymizer>(rule, tables, 1));
    const Guarded guarded;
    std::mt19937 random(20240501);
    const std::vector<Bytes> originals = seeds();
    uint64_t treated = 0;
    for (const auto &anonymizer : anonymizers)
        for (const Bytes &seed : originals)
            for (int turn = 0; turn < 60; ++turn) {
                const Bytes bytes = mutated(seed, random);
                const uint32_t room =
                    uint32_t(bytes.size()) + uint32_t(random() % 3 ? random() % 64 : 0);
                MutablePacket packet;
                packet.data = turn % 2 ? guarded.first() : guarded.end() - room;
                packet.caplen = uint32_t(bytes.size());
                packet.wire_len = packet.caplen + uint32_t(random() % 2 * 100);
                packet.room = room;
                packet.link_type = random() % 8 ? 1 : uint16_t(random() % 300);
                std::copy(bytes.begin(), bytes.end(), packet.data);
                const MutablePacket before = packet;
                anonymizer->apply(packet);
                check_packet(packet, before);
                ++treated;
            }
    CHECK(treated == rules.size() * originals.size() * 60);
}

TEST_CASE("several rules applied to the same hostile packet stay inside it",
          "[mapi-core][anonymize]")
{
    const std::vector<Rule> rules = all_rules();
    Tables tables(1, 100);
    const Guarded guarded;
    std::mt19937 random(7);
    const std::vector<Bytes> originals = seeds();
    for (int chain = 0; chain < 200; ++chain) {
        std::vector<std::unique_ptr<Anonymizer>> anonymizers;
        for (int i = 0; i < 5; ++i)
            anonymizers.push_back(
                std::make_unique<Anonymizer>(rules[random() % rules.size()], tables, 1));
        for (const Bytes &seed : originals) {
            const Bytes bytes = mutated(seed, random);
            MutablePacket packet;
            packet.room = uint32_t(bytes.size()) + 40;
            packet.data = guarded.end() - packet.room;
            packet.caplen = packet.wire_len = uint32_t(bytes.size());
            packet.link_type = 1;
            std::copy(bytes.begin(), bytes.end(), packet.data);
            const MutablePacket before = packet;
            for (const auto &anonymizer : anonymizers) {
                anonymizer->apply(packet);
                check_packet(packet, before);
            }
        }
    }
}
