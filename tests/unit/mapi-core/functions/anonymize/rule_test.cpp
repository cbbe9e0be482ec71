// SPDX-License-Identifier: MIT
// Rules: MAPI 2's words, which can be combined, and the messages about those that cannot.
#include "functions/anonymize/rule.hpp"

#include <string>

#include "support/catch.hpp"

using namespace mapi::anonymize;

namespace
{
struct Refusal {
    int part = 0;
    std::string message;
};

Refusal refusal_of(std::string_view text)
{
    try {
        parse_rule(text);
        return {};
    } catch (const RuleError &error) {
        return {int(error.part()), error.what()};
    }
}

bool says(const Refusal &refusal, int part, const char *words)
{
    return refusal.part == part && refusal.message.find(words) != std::string::npos;
}

bool is_taken(const std::string &text)
{
    return refusal_of(text).part == 0;
}

const char *const kProtocols[] = {"IP", "TCP", "UDP", "ICMP", "HTTP", "FTP"};

// Every field's name, from the lists that messages are made of.
std::vector<std::string> fields()
{
    std::vector<std::string> names{"PAYLOAD", "CHECKSUM"};
    for (const Group group :
         {Group::kIp, Group::kTcp, Group::kUdp, Group::kIcmp, Group::kHttp, Group::kFtp}) {
        std::string list = field_names(group) + ", ";
        for (size_t at = 0, end; (end = list.find(", ", at)) != std::string::npos; at = end + 2)
            names.push_back(list.substr(at, end - at));
    }
    return names;
}
} // namespace

TEST_CASE("a rule consists of a protocol, a field and a function", "[mapi-core][anonymize]")
{
    const Rule rule = parse_rule("HTTP,USER_AGENT,ZERO");
    CHECK(rule.protocol == Protocol::kHttp);
    CHECK(rule.field == Field::kUserAgent);
    CHECK(rule.method == Method::kZero);
}

TEST_CASE("every word of MAPI 2 is known and maps back to its name", "[mapi-core][anonymize]")
{
    CHECK(fields().size() == 119);
    for (const std::string &name : fields()) {
        INFO(name);
        REQUIRE(field_named(name));
        CHECK(name_of(*field_named(name)) == name);
    }
    CHECK(field_named("HTTP_PAYLOAD") == Field::kPayload);
    CHECK(wire_name_of(Field::kReferer) == "Referer");
    CHECK(wire_name_of(Field::kConnection) == "Connection");
    CHECK(wire_name_of(Field::kFtpType) == "TYPE");
    CHECK_FALSE(field_named("referrer"));
    CHECK_FALSE(method_named("ZEROES"));
}

TEST_CASE("a protocol has its own fields and those of the protocol that carries it",
          "[mapi-core][anonymize]")
{
    size_t taken = 0;
    for (const char *protocol : kProtocols)
        for (const std::string &field : fields())
            taken += is_taken(std::string(protocol) + "," + field + ",UNCHANGED");
    // Without VERSION and IHL: 11 for all; FLOW; 9 of TCP; 3 of UDP; 2 of ICMP; 9 and 61 of HTTP; 9
    // and 32 of FTP.
    CHECK(taken == 6 * 11 + 1 + 9 + 3 + 2 + 9 + 61 + 9 + 32);
    CHECK(is_taken("TCP,TTL,ZERO"));
    CHECK(is_taken("FTP,SRC_PORT,MAP"));
    CHECK(says(refusal_of("IP,SRC_PORT,ZERO"), 2,
               "is not a field of IP; available: PAYLOAD, CHECKSUM, SRC_IP"));
    CHECK(says(refusal_of("UDP,SEQUENCE_NUMBER,ZERO"), 2, "UDP_DATAGRAM_LENGTH"));
    CHECK(says(refusal_of("TCP,FLOW,ZERO"), 2, "not a field of TCP"));
    CHECK(says(refusal_of("HTTP,USER,ZERO"), 2, "not a field of HTTP"));
}

TEST_CASE("a missing or unknown part is named, with what is allowed there",
          "[mapi-core][anonymize]")
{
    CHECK(says(refusal_of(""), 1,
               "\"\" is not a known protocol; available: IP, TCP, UDP, ICMP, HTTP, FTP"));
    CHECK(says(refusal_of("SCTP,SRC_PORT,ZERO"), 1, "\"SCTP\""));
    CHECK(says(refusal_of("IP"), 2, "the field is missing"));
    CHECK(says(refusal_of("IP,SRC_IP"), 3, "the function is missing; available: UNCHANGED, MAP"));
    CHECK(says(refusal_of("IP,SRC_IP,SHUFFLE"), 3, "\"SHUFFLE\" is not a known function"));
    CHECK(says(refusal_of("IP,TTL,ZERO,1"), 4, "ZERO takes no parameters, but was given \"1\""));
}

TEST_CASE("a function is refused for fields that it cannot change", "[mapi-core][anonymize]")
{
    CHECK(says(refusal_of("IP,VERSION,ZERO"), 2, "the packet would become unreadable"));
    CHECK(says(refusal_of("IP,TTL,PREFIX_PRESERVING"), 2, "applies only to SRC_IP and DST_IP"));
    CHECK(says(refusal_of("TCP,TCP_OPTIONS,MAP"), 2, "MAP of TCP_OPTIONS: applies to numbers"));
    CHECK(says(refusal_of("HTTP,URI,MAP_DISTRIBUTION,UNIFORM,1,2"), 2,
               "not to options, payload or text"));
    CHECK(says(refusal_of("IP,TTL,STRIP,0"), 2, "applies only to OPTIONS, TCP_OPTIONS, PAYLOAD"));
    CHECK(says(refusal_of("TCP,WINDOW,REPLACE,x"), 2,
               "applies only to PAYLOAD and fields of HTTP and FTP"));
    CHECK(says(refusal_of("TCP,PAYLOAD,CHECKSUM_ADJUST"), 2, "applies only to CHECKSUM"));
}

TEST_CASE("parameters are read as their function requires", "[mapi-core][anonymize]")
{
    CHECK(parse_rule("TCP,PAYLOAD,STRIP,100").keep_bytes == 100);
    CHECK(parse_rule("TCP,PAYLOAD,STRIP").keep_bytes == 0);
    const Rule hashed = parse_rule("FTP,USER,HASHED,SHA_2,STRIP_REST,00ff10");
    CHECK(hashed.hash == HashAlgorithm::kSha2);
    CHECK(hashed.padding == Padding::kStripRest);
    CHECK(hashed.key == std::vector<uint8_t>{0x00, 0xff, 0x10});
    CHECK(parse_rule("FTP,USER,HASHED,DES,PAD_WITH_ZERO").hash == HashAlgorithm::kTripleDes);
    CHECK(parse_rule("FTP,USER,HASHED,3DES,PAD_WITH_ZERO").hash == HashAlgorithm::kTripleDes);
    const Rule drawn = parse_rule("IP,TTL,MAP_DISTRIBUTION,GAUSSIAN,64,10");
    CHECK(drawn.distribution == DistributionType::kGaussian);
    CHECK(drawn.first == 64);
    CHECK(drawn.second == 10);
    CHECK(parse_rule("UDP,PAYLOAD,PATTERN_FILL,INTEGER,255").text == "\xff");
    CHECK(parse_rule("UDP,PAYLOAD,PATTERN_FILL,STR,a,b").text == "a,b");
    CHECK(parse_rule("HTTP,URI,REPLACE,/a b,c").text == "/a b,c");
    CHECK(parse_rule("IP,SRC_IP,PREFIX_PRESERVING").key.empty());
    CHECK(parse_rule("IP,SRC_IP,PREFIX_PRESERVING," + std::string(32, ',')).key ==
          std::vector<uint8_t>(32, ','));
}

TEST_CASE("an expression gives its groups and a replacement for each, NULL for none",
          "[mapi-core][anonymize]")
{
    const Rule rule = parse_rule("HTTP,URI,REGEXP,(a{1\\,3})x(b),2,NULL,one, two");
    CHECK(rule.text == "(a{1,3})x(b)");
    REQUIRE(rule.replacements.size() == 2);
    CHECK_FALSE(rule.replacements[0]);
    CHECK(rule.replacements[1] == "one, two");
    CHECK(says(refusal_of("HTTP,URI,REGEXP,(a)(b),1,x"), 4, "the expression has 2 groups, not 1"));
    CHECK(
        says(refusal_of("HTTP,URI,REGEXP,(a)(b),2,x"), 4, "the replacement of group 2 is missing"));
    CHECK(says(refusal_of("HTTP,URI,REGEXP,(a,1,x"), 4, "at offset"));
    CHECK(says(refusal_of("HTTP,URI,REGEXP,(a),none,x"), 4,
               "the number of groups is not an integer"));
    CHECK(says(refusal_of("HTTP,URI,REGEXP,(a),99999999999,x"), 4, "out of range (1 to 64)"));
}

TEST_CASE("invalid parameters are refused", "[mapi-core][anonymize]")
{
    CHECK(says(refusal_of("TCP,PAYLOAD,STRIP,-1"), 4, "out of range (0 to 65535)"));
    CHECK(says(refusal_of("TCP,PAYLOAD,STRIP,3x"), 4, "not an integer: \"3x\""));
    CHECK(says(refusal_of("TCP,PAYLOAD,HASHED"), 4, "the name of the hash is missing"));
    CHECK(says(refusal_of("TCP,PAYLOAD,HASHED,MD4,STRIP_REST"), 4,
               "available: MD5, SHA, SHA_2, CRC32, AES, TRIPLEDES"));
    CHECK(says(refusal_of("TCP,PAYLOAD,HASHED,MD5"), 4,
               "the treatment of the rest of the field is missing"));
    CHECK(says(refusal_of("TCP,PAYLOAD,HASHED,MD5,CUT"), 4,
               "PAD_WITH_ZERO, STRIP_REST or UNCHANGED"));
    CHECK(says(refusal_of("TCP,PAYLOAD,HASHED,MD5,STRIP_REST,0"), 4, "hexadecimal digits"));
    CHECK(says(refusal_of("TCP,PAYLOAD,HASHED,CRC32,STRIP_REST,00"), 4, "CRC32 takes no key"));
    CHECK(
        says(refusal_of("TCP,PAYLOAD,HASHED,AES,STRIP_REST,00"), 4, "an AES key has 32, 48 or 64"));
    CHECK(says(refusal_of("TCP,PAYLOAD,HASHED,TRIPLEDES,STRIP_REST,00"), 4,
               "a TRIPLEDES key has 48"));
    CHECK(
        says(refusal_of("IP,TTL,MAP_DISTRIBUTION,PARETO,1,2"), 4, "neither UNIFORM nor GAUSSIAN"));
    CHECK(says(refusal_of("IP,TTL,MAP_DISTRIBUTION,UNIFORM,2,1"), 4,
               "the maximum is less than the minimum"));
    CHECK(says(refusal_of("IP,TTL,MAP_DISTRIBUTION,UNIFORM,2"), 4, "the maximum is missing"));
    CHECK(says(refusal_of("IP,TTL,MAP_DISTRIBUTION,GAUSSIAN,-2,1"), 4,
               "the mean and standard deviation are out of range (0"));
    CHECK(says(refusal_of("IP,TTL,PATTERN_FILL,INTEGER,256"), 4, "out of range (0 to 255)"));
    CHECK(says(refusal_of("IP,TTL,PATTERN_FILL,STR,"), 4, "the pattern is empty"));
    CHECK(says(refusal_of("IP,TTL,PATTERN_FILL,FLOAT,1"), 4, "neither INTEGER nor STR"));
    CHECK(says(refusal_of("FTP,USER,REPLACE"), 4, "the replacement is missing"));
    CHECK(says(refusal_of("FTP,USER,REPLACE,"), 4, "use STRIP to remove a field"));
    CHECK(says(refusal_of("IP,SRC_IP,PREFIX_PRESERVING,short"), 4, "the key must have 256 bits"));
}

TEST_CASE("the key of addresses is 32 characters or 64 hexadecimal digits",
          "[mapi-core][anonymize]")
{
    CHECK(address_rule("0123456789abcdef0123456789abcdef").key.front() == '0');
    CHECK(address_rule("01" + std::string(62, '0')).key.front() == 1);
    CHECK(address_rule(std::string(32, 'k')).field == Field::kBothAddresses);
    CHECK_THROWS_AS(address_rule(std::string(31, 'k')), RuleError);
    CHECK_THROWS_AS(address_rule(std::string(64, 'k')), RuleError);
}
