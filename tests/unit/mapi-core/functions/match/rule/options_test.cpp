// SPDX-License-Identifier: MIT
// Options other than contents: numbers in the payload, buffers, headers.
#include "support/catch.hpp"

#include "rule_packet.hpp"

using namespace rule_test;
using namespace std::string_view_literals;
using namespace std::string_literals;

TEST_CASE("byte_test compares a number of the payload", "[match][rule]")
{
    CHECK(matches("byte_test:2,=,0x0102,1;", "\0\1\2"sv));
    CHECK(matches("byte_test:2,=,0x0201,1,little;", "\0\1\2"sv));
    CHECK(matches("byte_test:2,!,5,1;", "\0\1\2"sv));
    CHECK(matches("byte_test:1,&,4,0;", "\6"sv));
    CHECK_FALSE(matches("byte_test:1,!&,4,0;", "\6"sv));
    CHECK(matches("byte_test:3,>,100,0,string,dec;", "101"sv));
    CHECK(matches("byte_test:2,=,255,0,string,hex;", "ff"sv));
    CHECK_FALSE(matches("byte_test:2,!,5,2;", "\0\1\2"sv)); // cut
    CHECK_FALSE(matches("byte_test:1,!,5,-1;", "\0\1\2"sv));
    CHECK(matches("byte_test:1,=,3,0,bitmask 0xf0;", "\x35"sv));
}

TEST_CASE("byte_jump moves the cursor", "[match][rule]")
{
    CHECK(matches("byte_jump:1,0; content:\"x\"; within:1;", "\2..x"sv));
    CHECK(matches("byte_jump:1,0,multiplier 2; content:\"x\"; within:1;", "\1..x"sv));
    CHECK(matches("byte_jump:1,0,align; content:\"x\"; within:1;", "\1....x"sv));
    CHECK(matches("byte_jump:1,0,from_beginning; content:\"x\"; within:1;", "\3..x"sv));
    CHECK(matches("byte_jump:1,0,post_offset -1; content:\"x\"; within:1;", "\3..x"sv));
    CHECK(matches("byte_jump:0,0,from_end,post_offset -1; content:\"x\"; within:1;", "...x"sv));
    CHECK_FALSE(matches("byte_jump:1,0;", "\4..x"sv)); // beyond the end
}

TEST_CASE("byte_extract gives a name to a number", "[match][rule]")
{
    CHECK(matches("byte_extract:1,0,at; content:\"x\"; offset:at; depth:1;", "\3..x"sv));
    CHECK(matches("byte_extract:1,0,n; byte_test:1,=,n,1;", "\7\7"sv));
    CHECK_FALSE(matches("byte_extract:1,0,n; byte_test:1,=,n,1;", "\7\6"sv));
    CHECK(matches("byte_extract:1,0,n; isdataat:!n;", "\2a"sv));
}

TEST_CASE("byte_math calculates with a number of the payload", "[match][rule]")
{
    const auto result_is = [](const std::string &math, std::string_view payload, uint32_t value) {
        return matches("byte_math:" + math + ",result r; byte_test:4,=,r,4;",
                       std::string(payload) + std::string{char(value >> 24), char(value >> 16),
                                                          char(value >> 8), char(value)});
    };
    CHECK(result_is("bytes 2,offset 1,oper +,rvalue 3", "\0\1\2."sv, 0x105));
    CHECK(result_is("bytes 2,offset 1,oper -,rvalue 2,endian little", "\0\1\2."sv, 0x1ff));
    CHECK(result_is("bytes 1,offset 0,oper *,rvalue 0x10", "\x0a..."sv, 160));
    CHECK(result_is("bytes 1,offset 3,oper /,rvalue 4", "...\x0b"sv, 2));
    CHECK(result_is("bytes 1,offset 0,oper <<,rvalue 9", "\1..."sv, 512));
    CHECK(result_is("bytes 4,offset 0,oper >>,rvalue 8", "\x81\2\3\4"sv, 0x810203));
    CHECK(result_is("bytes 3,offset 0,oper *,rvalue 2,string dec", "120x"sv, 240));
    CHECK(result_is("bytes 2,offset 1,oper +,rvalue 1,string hex", "xffx"sv, 256));
    CHECK(result_is("bytes 1,offset 0,oper +,rvalue 1,bitmask 0xf0", "\x35..."sv, 4));
    CHECK(matches("byte_math: result r, rvalue 1, oper+, offset 0, bytes 1; byte_test:1,=,r,1;",
                  "\1\2"sv));
}

TEST_CASE("a result of byte_math below zero or above 32 bits does not match", "[match][rule]")
{
    CHECK_FALSE(matches("byte_math:bytes 1,offset 0,oper -,rvalue 2,result r;", "\1"sv));
    CHECK(matches("byte_math:bytes 1,offset 0,oper -,rvalue 1,result r;", "\1"sv));
    CHECK_FALSE(
        matches("byte_math:bytes 4,offset 0,oper +,rvalue 1,result r;", "\xff\xff\xff\xff"));
    CHECK_FALSE(matches("byte_math:bytes 4,offset 0,oper *,rvalue 2,result r;", "\x80\0\0\0"sv));
    CHECK(matches("byte_math:bytes 4,offset 0,oper <<,rvalue 1,result r;", "\x80\0\0\0"sv));
    CHECK_FALSE(matches("byte_math:bytes 4,offset 0,oper +,rvalue 1,result r;", "abc")); // cut
    const char *quotient =
        "byte_extract:1,0,n; byte_math:bytes 1,offset 1,oper /,rvalue n,result r;";
    CHECK(matches(quotient, "\1\6"sv));
    CHECK_FALSE(matches(quotient, "\0\6"sv)); // by zero
}

TEST_CASE("the result of byte_math is used where that of byte_extract is", "[match][rule]")
{
    const std::string math = "byte_math:bytes 1,offset 0,oper +,rvalue 1,result n; ";
    CHECK(matches(math + "content:\"x\"; offset:n; depth:1;", "\2..x"sv));
    CHECK_FALSE(matches(math + "content:\"x\"; offset:n; depth:1;", "\1..x"sv));
    CHECK(matches(math + "content:\"a\"; content:\"x\"; distance:n; within:1;", "\1a..x"sv));
    CHECK(matches(math + "content:\"x\"; depth:n;", "\1x"sv));
    CHECK(matches(math + "isdataat:!n;", "\1a"sv));
    CHECK(matches(math + "byte_jump:1,n; content:\"x\"; within:1;", "\1.\1.x"sv));
    // It leaves the cursor where it is.
    CHECK(matches("content:\"ab\"; byte_math:bytes 1,offset 0,oper +,rvalue 1,result n,relative; "
                  "byte_test:1,=,n,1,relative;",
                  "ab\4\5"sv));
    // The content is tried again where the number after it is another one.
    CHECK(matches("content:\"a\"; byte_math:bytes 1,offset 0,oper -,rvalue 5,result n,relative; "
                  "isdataat:n;",
                  "a\4a\6"sv));
}

TEST_CASE("isdataat counts from the payload's start or the cursor", "[match][rule]")
{
    CHECK(matches("isdataat:2;", "abc"));
    CHECK_FALSE(matches("isdataat:3;", "abc"));
    CHECK(matches("isdataat:!3;", "abc"));
    CHECK(matches("content:\"a\"; isdataat:1,relative;", "abc"));
    CHECK_FALSE(matches("content:\"b\"; isdataat:1,relative;", "abc"));
}

TEST_CASE("base64 in the payload is decoded", "[match][rule]")
{
    CHECK(matches(
        "content:\"Basic \"; base64_decode:relative; base64_data; content:\"user:\"; depth:5;",
        "Basic dXNlcjpwYXNz"));
    CHECK(matches("base64_decode:bytes 12, offset 1; base64_data; content:\"user:pass\";",
                  "_dXNl\r\n cjpwYXNz=="));
    CHECK_FALSE(matches("base64_data; content:\"a\";", "dXNl"));
    CHECK_FALSE(
        matches("base64_decode; base64_data; content:\"a\"; pkt_data; content:\"x\";", "YQ=="));
    CHECK(matches("base64_decode; base64_data; content:\"a\"; pkt_data; content:\"YQ\";", "YQ=="));
}

TEST_CASE("rpc looks at the call in a TCP or UDP payload", "[match][rule]")
{
    const std::string call = "\0\0\0\1\0\0\0\0\0\0\0\2\0\1\x86\xa0\0\0\0\2\0\0\0\3"s;
    CHECK(matches("rpc:100000,2,3;", udp(call)));
    CHECK(matches("rpc:100000,*,3;", udp(call)));
    CHECK(matches("rpc:100000;", tcp("\x80\0\0\x18"s + call)));
    CHECK_FALSE(matches("rpc:100000,3,*;", udp(call)));
    CHECK_FALSE(matches("rpc:100000;", udp(call.substr(1))));
}

TEST_CASE("ftpbounce finds a PORT with another address than the sender's", "[match][rule]")
{
    CHECK(matches("content:\"PORT\"; ftpbounce;", "PORT 10,0,0,9,4,1\r\n"));
    CHECK_FALSE(matches("content:\"PORT\"; ftpbounce;", "PORT 10,0,0,1,4,1\r\n"));
    CHECK_FALSE(matches("content:\"PORT\"; ftpbounce;", "PORT 10,0,x"));
}

TEST_CASE("header options test the header's fields", "[match][rule]")
{
    const Bytes frame = tcp("abc");
    for (const char *options :
         {"dsize:3;",      "dsize:2<>4;", "dsize:>2;",    "flags:SA;",     "flags:S+;",
          "flags:*SF;",    "flags:!F;",   "flags:S,A;",   "seq:7;",        "ack:9;",
          "window:2048;",  "ttl:64;",     "ttl:60-70;",   "ttl:>=64;",     "tos:16;",
          "ip_id:0x1234;", "fragbits:D;", "fragbits:!M;", "fragoffset:0;", "ip_proto:tcp;",
          "ip_proto:!17;"}) {
        INFO(options);
        CHECK(matches(options, frame));
    }
    for (const char *options :
         {"dsize:<3;", "flags:S;", "flags:F+;", "flags:!A;", "ttl:<64;", "fragbits:M;", "sameip;",
          "ipopts:any;", "itype:8;", "ip_proto:1;"}) {
        INFO(options);
        CHECK_FALSE(matches(options, frame));
    }
}

TEST_CASE("ICMP options test type, code and the fields of an echo", "[match][rule]")
{
    CHECK(matches("itype:8; icode:0; icmp_id:258; icmp_seq:772; dsize:3;", icmp(8, 0, "abc")));
    CHECK(matches("itype:7<>9;", icmp(8, 0, "")));
    CHECK_FALSE(matches("itype:8<>9;", icmp(8, 0, "")));
    CHECK_FALSE(matches("icmp_id:258;", icmp(3, 1, "")));
    CHECK(matches("icode:>0; content:\"abc\";", icmp(3, 1, "abc")));
}

TEST_CASE("a packet without IP matches no option", "[match][rule]")
{
    const Bytes arp = frame_bytes::ethernet(0x0806, frame_bytes::hex("0001 0800 06 04 0001"));
    CHECK_FALSE(matches("dsize:0;", arp));
    CHECK_FALSE(matches("content:!\"x\";", arp));
    CHECK_FALSE(matches("ttl:<255;", arp));
}
