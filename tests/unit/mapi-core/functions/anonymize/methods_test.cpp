// SPDX-License-Identifier: MIT
// Functions on a field's bytes; digests and ciphers, compared with values from Python's hashlib,
// zlib and cryptography.
#include <netinet/in.h>

#include <set>

#include "packets.hpp"
#include "support/catch.hpp"

using namespace anonymize_test;

namespace
{
// The UDP payload after one rule.
Bytes payload_after(const std::string &method, const Bytes &payload)
{
    const Bytes packet =
        treat("UDP,PAYLOAD," + method, ethernet(0x0800, ipv4(IPPROTO_UDP, udp(payload)))).bytes;
    return {packet.begin() + 14 + 28, packet.end()};
}

const Bytes kName = text("anonymous@example.org");
const std::string kKey16 = "000102030405060708090a0b0c0d0e0f";

bool is_printable(const Bytes &bytes)
{
    return std::ranges::all_of(bytes, [](uint8_t byte) { return byte > 0x20 && byte < 0x7f; });
}
} // namespace

TEST_CASE("a pattern fills a field from its first byte to its last", "[mapi-core][anonymize]")
{
    CHECK(payload_after("PATTERN_FILL,INTEGER,171", text("12345")) == Bytes(5, 171));
    CHECK(payload_after("PATTERN_FILL,STR,abc", text("1234567")) == text("abcabca"));
    CHECK(payload_after("ZERO", text("1234567")) == Bytes(7, 0));
}

TEST_CASE("random bytes differ each time; with a seed they are repeatable",
          "[mapi-core][anonymize]")
{
    const Bytes once = payload_after("RANDOM", kName);
    CHECK(once.size() == kName.size());
    CHECK(once != kName);
    CHECK(payload_after("RANDOM", kName) == once);
    mapi::anonymize::Tables tables(1);
    mapi::anonymize::Anonymizer unseeded(mapi::anonymize::parse_rule("IP,SRC_IP,RANDOM"), tables);
    std::set<Bytes> seen;
    for (int i = 0; i < 10; ++i) {
        Packet packet(ethernet(0x0800, ipv4(IPPROTO_UDP, udp(text("x")))));
        unseeded.apply(packet.packet);
        seen.insert(packet.bytes());
    }
    CHECK(seen.size() == 10);
}

TEST_CASE("a random file name keeps its length and its suffix", "[mapi-core][anonymize]")
{
    const Bytes name = payload_after("FILENAME_RANDOM", text("salaries.2024.xls"));
    REQUIRE(name.size() == 17);
    CHECK(is_printable(name));
    CHECK(Bytes(name.end() - 4, name.end()) == text(".xls"));
    CHECK(Bytes(name.begin(), name.begin() + 13) != text("salaries.2024"));
    const Bytes without = payload_after("FILENAME_RANDOM", text("README"));
    CHECK((is_printable(without) && without != text("README")));
}

TEST_CASE("a digest replaces the field; the rest of a longer field is filled, cut or kept",
          "[mapi-core][anonymize]")
{
    const std::string md5 = "432b14624c692e7a24b7ce1c1ec8db50";
    CHECK(payload_after("HASHED,MD5,STRIP_REST", kName) == hex(md5));
    CHECK(payload_after("HASHED,MD5,PAD_WITH_ZERO", kName) == hex(md5) + text("00000"));
    CHECK(payload_after("HASHED,MD5,UNCHANGED", kName) == hex(md5) + text("e.org"));
    CHECK(payload_after("HASHED,SHA,STRIP_REST", kName) ==
          hex("dd9364b4373d8eb2562a49490cc894d0d5f1cf5c"));
    const Bytes sha_2 = hex("fc8474cbaab2d6405ad637fd26c600da949f772781d75d53f310543acda36ba2");
    CHECK(payload_after("HASHED,SHA_2,PAD_WITH_ZERO", kName) == sha_2); // longer than the field
    CHECK(payload_after("HASHED,CRC32,STRIP_REST", kName) == hex("ec0eb9c2"));
}

TEST_CASE("with a key, a digest is an HMAC", "[mapi-core][anonymize]")
{
    CHECK(payload_after("HASHED,SHA_2,STRIP_REST," + kKey16, kName) ==
          hex("b8fb848b8bc5a7b82c2a4d0bb453741167e1798fa3bfc1139486233dea6d595c"));
    CHECK(payload_after("HASHED,MD5,STRIP_REST," + kKey16, kName) ==
          hex("7da8e9d6d2b3e10e74a77b1f9402caed"));
    CHECK(payload_after("HASHED,SHA,STRIP_REST," + kKey16, kName) ==
          hex("1d503c4057a887dd1f453f1adc6f16709d7bd9a7"));
}

TEST_CASE("a cipher keeps the field's length", "[mapi-core][anonymize]")
{
    CHECK(payload_after("HASHED,AES,PAD_WITH_ZERO," + kKey16, kName) ==
          hex("5150184dba8285e050a131498247faaa7031eda0c6"));
    CHECK(payload_after("HASHED,AES,PAD_WITH_ZERO," + kKey16 + kKey16.substr(0, 16), kName) ==
          hex("8fc94540e40f6987ffaa82f46a608fb91e91cb6ad9"));
    CHECK(payload_after("HASHED,AES,STRIP_REST," + kKey16 + kKey16, kName) ==
          hex("80ce948219de4dade52fceaefb4077cf54235d3a95"));
    const std::string des_key = "000102030405060708090a0b0c0d0e0f1011121314151617";
    CHECK(payload_after("HASHED,TRIPLEDES,PAD_WITH_ZERO," + des_key, kName) ==
          hex("4bcac0da88a9cda2793e96aa013d9b99be93b1f509"));
    CHECK(payload_after("HASHED,AES,PAD_WITH_ZERO", kName) != kName); // random key of this process
}

TEST_CASE("a number in a header takes the first bytes of a digest", "[mapi-core][anonymize]")
{
    const Bytes packet = ethernet(0x0800, ipv4(IPPROTO_UDP, udp({}, 53, 0x6162)));
    // SHA-1 of "ab" begins with da23
    CHECK(treat("UDP,DST_PORT,HASHED,SHA,STRIP_REST", packet).bytes[14 + 20 + 2] == 0xda);
    CHECK(treat("UDP,DST_PORT,HASHED,SHA,STRIP_REST", packet).bytes[14 + 20 + 3] == 0x23);
    const Bytes six = ethernet(0x86dd, ipv6(IPPROTO_UDP, udp({})));
    const Bytes short_digest = treat("IP,SRC_IP,HASHED,CRC32,STRIP_REST", six).bytes;
    CHECK(short_digest.size() == six.size());
    CHECK(Bytes(short_digest.begin() + 26, short_digest.begin() + 38) == Bytes(12, 0));
}

TEST_CASE("addresses, ports and other numbers are numbered separately, hosts in both directions",
          "[mapi-core][anonymize]")
{
    mapi::anonymize::Tables tables(1);
    mapi::anonymize::Anonymizer source(mapi::anonymize::parse_rule("IP,SRC_IP,MAP"), tables);
    mapi::anonymize::Anonymizer destination(mapi::anonymize::parse_rule("IP,DST_IP,MAP"), tables);
    mapi::anonymize::Anonymizer port(mapi::anonymize::parse_rule("UDP,DST_PORT,MAP"), tables);
    Packet packet(ethernet(0x0800, ipv4(IPPROTO_UDP, udp({}))));
    source.apply(packet.packet);
    destination.apply(packet.packet);
    port.apply(packet.packet);
    const Bytes bytes = packet.bytes();
    CHECK(Bytes(bytes.begin() + 26, bytes.begin() + 34) == hex("00000001 00000002"));
    CHECK(Bytes(bytes.begin() + 36, bytes.begin() + 38) == hex("0001"));
    Packet six(ethernet(0x86dd, ipv6(IPPROTO_UDP, udp({}))));
    source.apply(six.packet);
    CHECK(Bytes(six.packet.data + 22, six.packet.data + 38) ==
          hex("20010db8000000000000000000000003"));
}

TEST_CASE("a drawn number is the same whenever its value occurs again", "[mapi-core][anonymize]")
{
    const Bytes packet = ethernet(0x0800, ipv4(IPPROTO_UDP, udp({})));
    CHECK(treat("IP,TTL,MAP_DISTRIBUTION,UNIFORM,7,7", packet).bytes[22] == 7);
    const Bytes addresses =
        treat("IP,SRC_IP,MAP_DISTRIBUTION,UNIFORM,16909060,16909060", packet).bytes;
    CHECK(Bytes(addresses.begin() + 26, addresses.begin() + 30) == hex("01020304"));
}

TEST_CASE("a replacement may be longer or shorter", "[mapi-core][anonymize]")
{
    CHECK(payload_after("REPLACE,gone", text("a secret")) == text("gone"));
    CHECK(payload_after("REPLACE,nothing to see here", text("a secret")) ==
          text("nothing to see here"));
}

TEST_CASE("groups of an expression are replaced where it first matches, ignoring case",
          "[mapi-core][anonymize]")
{
    CHECK(payload_after("REGEXP,user=(\\w+)&pass=(\\w+),2,x,NULL",
                        text("USER=joe&pass=abc user=ann&pass=x")) ==
          text("USER=x&pass=abc user=ann&pass=x"));
    CHECK(payload_after("REGEXP,(a)(b)?(c),3,1,2,3", text("xacx")) == text("x13x"));
    CHECK(payload_after("REGEXP,(a(b)c),2,all,b", text("-abc-")) == text("-all-"));
    CHECK(payload_after("REGEXP,(no),1,yes", text("nothing? no")) == text("yesthing? no"));
    CHECK(payload_after("REGEXP,(never),1,yes", text("nothing")) == text("nothing"));
}

TEST_CASE("an expression that takes too long is aborted, and the field becomes zeros",
          "[mapi-core][anonymize]")
{
    const Bytes packet = ethernet(0x0800, ipv4(IPPROTO_UDP, udp(Bytes(1200, 'a') + text("!"))));
    const Treated treated = treat("UDP,PAYLOAD,REGEXP,(a+)+(\\d),2,x,y", packet);
    CHECK(treated.counts.given_up == 1);
    CHECK((treated.bytes == with_zeros(packet, 14 + 28, 1201)));
}
