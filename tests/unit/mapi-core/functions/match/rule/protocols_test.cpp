// SPDX-License-Identifier: MIT
// SIP messages and ASN.1 elements in the payload.  The messages are those of RFC 3261 24.2, the
// SNMP message is laid out as in RFC 1157.
#include "match/rule/formats/ber.hpp"
#include "match/rule/formats/sip_message.hpp"
#include "match/rule/rule_error.hpp"
#include "support/catch.hpp"

#include "rule_packet.hpp"

using namespace rule_test;
using namespace std::string_literals;

namespace
{
const std::string kInvite = "INVITE sip:bob@biloxi.com SIP/2.0\r\n"
                            "Via: SIP/2.0/UDP pc33.atlanta.com;branch=z9hG4bKnashds8\r\n"
                            "Max-Forwards: 70\r\n"
                            "To: Bob <sip:bob@biloxi.com>\r\n"
                            "From: Alice <sip:alice@atlanta.com>;tag=1928301774\r\n"
                            "Call-ID: a84b4c76e66710\r\n"
                            "CSeq: 314159 INVITE\r\n"
                            "Contact: <sip:alice@pc33.atlanta.com>\r\n"
                            "Content-Type: application/sdp\r\n"
                            "Content-Length: 25\r\n\r\n"
                            "v=0\r\no=alice 1 1 IN IP4 a";
const std::string kRinging = "SIP/2.0 180 Ringing\r\n"
                             "CSeq: 314159 INVITE\r\n"
                             "Content-Length: 0\r\n\r\n";

std::string refusal_of(std::string_view options)
{
    try {
        mapi::match::rule::parse(options);
        return "accepted";
    } catch (const mapi::match::rule::RuleError &error) {
        return error.what();
    }
}

// An element with a length of one byte.
std::string element(uint8_t identifier, const std::string &content)
{
    return std::string{char(identifier), char(content.size())} + content;
}

std::string sequence(const std::string &content)
{
    return element(0x30, content);
}
} // namespace

TEST_CASE("sip_method looks at the method of a request in UDP or TCP", "[match][rule]")
{
    CHECK(matches("sip_method:invite;", udp(kInvite)));
    CHECK(matches("sip_method:BYE, INVITE;", tcp(kInvite)));
    CHECK_FALSE(matches("sip_method:bye;", udp(kInvite)));
    CHECK(matches("sip_method:!bye;", udp(kInvite)));
    CHECK_FALSE(matches("sip_method:!invite;", udp(kInvite)));
    CHECK_FALSE(matches("sip_method:!bye;", udp(kRinging)));
    CHECK_FALSE(matches("sip_method:invite;", icmp(8, 0, kInvite)));
    CHECK_FALSE(matches("sip_method:get;", udp("GET /a HTTP/1.1\r\n\r\n")));
    CHECK_FALSE(matches("sip_method:invite;", udp("INVITE sip:a SIP/2.0"))); // no whole line
    CHECK_FALSE(matches("sip_method:invite;", udp("xINVITE sip:a SIP/2.0\r\n")));
}

TEST_CASE("sip_stat_code looks at the code of a response", "[match][rule]")
{
    CHECK(matches("sip_stat_code:180;", udp(kRinging)));
    CHECK(matches("sip_stat_code:404,1;", udp(kRinging)));
    CHECK_FALSE(matches("sip_stat_code:2,200;", udp(kRinging)));
    CHECK_FALSE(matches("sip_stat_code:1;", udp(kInvite)));
    CHECK_FALSE(matches("sip_stat_code:1;", udp("SIP/2.0 1800 x\r\n\r\n")));
    CHECK_FALSE(matches("sip_stat_code:1;", udp("SIP/2.0 -180 x\r\n\r\n")));
}

TEST_CASE("sip_header and sip_body choose the bytes of the options after them", "[match][rule]")
{
    for (const char *options :
         {"sip_header; content:\"Call-ID|3a| a84\"; content:\"CSeq\"; distance:0;",
          "sip_header; content:\"INVITE\"; depth:6;", "sip_header; pcre:\"/^To: Bob/m\";",
          "sip_header; content:!\"o=alice\";", "sip_body; content:\"v=0\"; depth:3;",
          "sip_body; content:\"alice\"; nocase; isdataat:!13,relative;",
          "sip_body; content:!\"INVITE\"; pkt_data; content:\"INVITE\"; depth:6;",
          "sip_body; byte_test:1,=,0,2,string,dec;"}) {
        INFO(options);
        CHECK(matches(options, udp(kInvite)));
        CHECK(matches(options, tcp(kInvite)));
    }
    CHECK_FALSE(matches("sip_header; content:\"o=alice\";", udp(kInvite)));
    CHECK_FALSE(matches("sip_body; content:\"Call-ID\";", udp(kInvite)));
    CHECK_FALSE(matches("sip_body;", udp(kRinging)));
    CHECK_FALSE(matches("sip_header;", udp("v=0\r\n\r\n")));
}

TEST_CASE("a SIP message without a length has no body", "[match][rule]")
{
    const std::string start = "BYE sip:a SIP/2.0\r\n";
    CHECK_FALSE(matches("sip_body;", udp(start + "To: a\r\n\r\nbody")));
    CHECK(matches("sip_body; content:\"body\"; depth:4;", udp(start + "l : 1\r\n\r\nbody")));
    CHECK(matches("sip_body; content:\"body\"; depth:4;", udp(start + "L:\r\n 4\r\n\r\nbody")));
    CHECK(matches("sip_body; content:\"body\"; depth:4;", udp("BYE a SIP/2.0\nl:4\n\nbody")));
    // Without an empty line the header is the start line.
    CHECK(matches("sip_body; content:\"l:4\"; depth:3;", udp(start + "l:4\r\nTo")));
    CHECK(matches("sip_header; content:!\"l:4\";", udp(start + "l:4\r\nTo")));
}

TEST_CASE("asn1 finds a bit string with more unused bits than bits", "[match][rule]")
{
    const std::string options = "asn1:bitstring_overflow;";
    CHECK(matches(options, udp(sequence(element(3, "\x09\xff")))));
    CHECK_FALSE(matches(options, udp(sequence(element(3, "\x08\xff")))));
    CHECK(matches(options, udp(sequence(element(2, "\1") + sequence(element(3, "\x01"))))));
    CHECK_FALSE(matches(options, udp(sequence(element(0x23, element(3, "\x01\xff"))))));
    CHECK_FALSE(matches(options, udp(sequence(element(4, element(3, "\x01")))))); // not decoded
    CHECK_FALSE(matches(options, udp("")));
    CHECK_FALSE(matches(options, udp("\x30")));
}

TEST_CASE("asn1 finds a number in decimal of more than 256 bytes", "[match][rule]")
{
    const auto real = [](uint8_t first, size_t bytes) {
        return "\x30\x82\2\0\x09\x82"s + char(bytes >> 8) + char(bytes) + char(first) +
               std::string(bytes - 1, '7');
    };
    CHECK(matches("asn1:double_overflow;", udp(real(0x03, 257))));
    CHECK_FALSE(matches("asn1:double_overflow;", udp(real(0x03, 256))));
    CHECK_FALSE(matches("asn1:double_overflow;", udp(real(0x80, 257))));
}

TEST_CASE("asn1 finds a length from a number on, also of a cut element", "[match][rule]")
{
    const std::string snmp = sequence(element(2, "\0"s) + element(4, "public") +
                                      element(0xa0, element(2, "\1") + element(2, "\0"s)));
    CHECK(matches("asn1:oversize_length 6;", udp(snmp)));
    CHECK(matches("asn1:oversize_length 19;", udp(snmp))); // the whole
    CHECK_FALSE(matches("asn1:oversize_length 20;", udp(snmp)));
    CHECK(matches("asn1:oversize_length 500;", udp("\x30\x82\x27\x10\x02\1\1"s)));
    CHECK(matches("asn1:oversize_length 500;", udp("\x04\x82\x27\x10x"s)));
    CHECK(matches("asn1:oversize_length 4294;", udp("\x30\x85\1\0\0\0\0\1"s))); // above 32 bits
    CHECK(matches("asn1:oversize_length 0;", udp("\x30\x85\1\0\0\0\0\1"s)));
    CHECK_FALSE(matches("asn1:oversize_length 0;", udp(snmp)));
}

TEST_CASE("asn1 begins at an offset of the payload or the cursor", "[match][rule]")
{
    const std::string payload = "ab" + sequence(element(3, "\x01")) + "c";
    CHECK(matches("asn1:bitstring_overflow,absolute_offset 2;", udp(payload)));
    CHECK_FALSE(matches("asn1:bitstring_overflow,absolute_offset 7;", udp(payload)));
    CHECK(matches("content:\"b\"; asn1:bitstring_overflow, relative_offset 0;", udp(payload)));
    CHECK(matches("content:\"b0\"; asn1:bitstring_overflow, relative_offset -1;", udp(payload)));
    CHECK_FALSE(matches("asn1:bitstring_overflow,relative_offset 0;", udp(payload)));
    CHECK_FALSE(matches("content:\"c\"; asn1:print,relative_offset 0;", udp(payload))); // the end
    CHECK(matches("asn1:print;", udp(payload)));
    CHECK_FALSE(matches("asn1:print, bitstring_overflow;", udp(element(2, "\1"))));
}

TEST_CASE("asn1 follows indefinite lengths to their ends", "[match][rule]")
{
    const std::string bad = element(3, "\x01");
    CHECK(matches("asn1:bitstring_overflow;", udp("\x30\x80" + element(2, "\1") + bad + "\0\0"s)));
    CHECK(matches("asn1:bitstring_overflow;", udp("\x30\x80\x31\x80\2\1\1\0\0\0\0"s + bad)));
    CHECK(matches("asn1:bitstring_overflow;", udp("\x30\x80\x30\x80\0\0"s + bad + "\0\0"s)));
    // The length is that to the end mark.
    CHECK(matches("asn1:oversize_length 3;", udp("\x30\x80\2\1\1\0\0"s)));
    CHECK_FALSE(matches("asn1:oversize_length 4;", udp("\x30\x80\2\1\1\0\0"s)));
    CHECK_FALSE(matches("asn1:bitstring_overflow;", udp("\2\x80" + bad))); // not of a number
}

TEST_CASE("hostile ASN.1 is read within limits", "[match][rule]")
{
    using namespace mapi::match::rule;
    const auto read = [](const std::string &bytes) {
        ber::Reader reader({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
        const auto outcome = reader.read();
        return std::pair(reader.elements().size(), outcome);
    };
    std::string deep;
    for (int i = 0; i < 1000; ++i)
        deep += "\x30\x80";
    CHECK(read(deep) == std::pair(size_t{128}, ber::Outcome::kBroken));
    std::string many;
    for (int i = 0; i < 1000; ++i)
        many += element(2, "\1");
    CHECK(read(many) == std::pair(size_t{256}, ber::Outcome::kBroken));
    CHECK(read(std::string(1000, '\x1f' | '\x80')).second == ber::Outcome::kBroken); // a long tag
    CHECK(read(sequence(element(2, "\1")) + element(4, "x")) ==
          std::pair(size_t{3}, ber::Outcome::kWhole));
}

TEST_CASE("a mistake in SIP and ASN.1 options is reported with its place", "[match][rule]")
{
    CHECK(refusal_of("sip_method;") == "at 0: \"sip_method\" requires a value");
    CHECK(refusal_of("sip_method:!a,b;") == "at 12: only a method that is alone can be negated");
    CHECK(refusal_of("sip_method:a,,b;") == "at 13: the name of a method is expected");
    CHECK(refusal_of("sip_stat_code:20;") == "at 14: a status code has three digits, or one");
    CHECK(refusal_of("sip_header:x;") == "at 11: \"sip_header\" has no value");
    CHECK(refusal_of("asn1:oversize_length;") == "at 5: \"oversize_length\" requires a number");
    CHECK(refusal_of("asn1:relative_offset 1;") == "at 5: \"asn1\" requires a check");
    CHECK(refusal_of("asn1:overflow;").starts_with("at 5: \"overflow\" is none of "));
    CHECK(refusal_of("byte_math:bytes 1,offset 0,oper +,rvalue 1;") ==
          "at 10: \"byte_math\" requires \"result\"");
    CHECK(refusal_of("byte_math:bytes 1,offset 0,oper %,rvalue 1,result r;") ==
          "at 32: unknown operator \"%\"");
    CHECK(refusal_of("byte_math:bytes 1,offset 0,oper +,rvalue 0,result r;") ==
          "at 41: 0 is out of range (1 to 4294967295)");
    CHECK(refusal_of("byte_math:bytes 5,offset 0,oper +,rvalue 1,result r;") ==
          "at 16: more than 4 bytes require \"string\"");
    CHECK(refusal_of("byte_math:bytes 1,offset 0,oper <<,rvalue 33,result r;") ==
          "at 42: 33 is out of range (1 to 32)");
    CHECK(refusal_of("byte_math:bytes 1,bytes 2,offset 0,oper +,rvalue 1,result r;") ==
          "at 18: a second \"bytes\"");
    CHECK(refusal_of("byte_math:bytes 1,offset 0,oper +,rvalue 1,result r,dce;") ==
          "at 52: \"dce\" requires a DCE/RPC decoder, which does not exist");
}
