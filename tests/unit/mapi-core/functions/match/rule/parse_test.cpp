// SPDX-License-Identifier: MIT
// The options of rules: what is understood, and where a mistake is reported.
#include "match/rule/parse/parse.hpp"
#include "match/rule/rule_error.hpp"
#include "support/catch.hpp"

namespace
{
using namespace mapi::match::rule;

std::string refusal_of(std::string_view options)
{
    try {
        parse(options);
        return "accepted";
    } catch (const RuleError &error) {
        return error.what();
    }
}

const Content &only_content(const Rule &rule)
{
    REQUIRE(rule.payload.size() == 1);
    return std::get<Content>(rule.payload[0]);
}
} // namespace

TEST_CASE("a content may be bare or quoted, with hex and escaped delimiters", "[match][rule]")
{
    CHECK(only_content(parse("content: /bin/perl.exe ;")).text == "/bin/perl.exe");
    CHECK(only_content(parse("content:\"a;b|3a 3A|\\\"\\\\\\;\\:\\|\";")).text == "a;b::\"\\;:|");
    CHECK(only_content(parse("content: a\\;b")).text == "a;b");
    CHECK(only_content(parse("content:! \"x\"; nocase;")).is_negated);
    CHECK(only_content(parse("content:\"ABC\"; nocase;")).text == "abc");
}

TEST_CASE("a mistake in options is reported with its place", "[match][rule]")
{
    CHECK(refusal_of("content:\"a\"; nocase; contnt:\"b\";") == "at 21: unknown option \"contnt\"");
    CHECK(refusal_of("dsize:4; distance:1;") == "at 9: \"distance\" requires a content before it");
    CHECK(refusal_of("content:\"a") == "at 8: this double quote has no end");
    CHECK(refusal_of("content:\"a|4\";") == "at 10: this hex block has no closing pipe");
    CHECK(refusal_of("content:\"|4|\";") == "at 11: a hex block needs two digits for each byte");
    CHECK(refusal_of("content:\"|4x|\";") == "at 11: this is not a hex digit");
    CHECK(refusal_of("content:\"\";") == "at 8: the content is empty");
    CHECK(refusal_of("content;") == "at 0: \"content\" requires a value");
    CHECK(refusal_of("content:\"abc\"; depth:2;") ==
          "at 0: depth 2 is less than the content's length, 3");
    CHECK(refusal_of("content:\"a\"; content:\"b\"; offset:1; within:4; dsize:1;") ==
          "at 13: this content has offset or depth, and distance or within");
    CHECK(refusal_of("content:\"a\"; offset:x;") ==
          "at 20: \"x\" is neither a number nor a variable of byte_extract or byte_math");
    CHECK(refusal_of("content:\"a\"; http_uri; http_header;") ==
          "at 23: the content has a buffer already");
    CHECK(refusal_of("pcre:\"/a(/\";") == "at 9: missing closing parenthesis");
    CHECK(refusal_of("pcre:\"/a/q\";") == "at 9: unknown flag of an expression");
    CHECK(refusal_of("byte_test:5,>,1,0;") == "at 10: more than 4 bytes require \"string\"");
    CHECK(refusal_of("byte_test:1,?,1,0;") == "at 12: unknown operator \"?\"");
    CHECK(refusal_of("byte_jump:1,0,dce;") ==
          "at 14: \"dce\" requires a DCE/RPC decoder, which does not exist");
    CHECK(refusal_of("ttl:256;") == "at 4: 256 is out of range (0 to 255)");
    CHECK(refusal_of("flags:SX;") == "at 7: unknown flag");
    CHECK(refusal_of("dsize 5;") == "at 6: a colon or a semicolon is expected after \"dsize\"");
    CHECK(refusal_of("base64_decode; base64_data; base64_decode:relative;") ==
          "at 28: a rule has at most one base64_decode");
    CHECK(refusal_of("; content:\"a\";") == "at 0: the name of an option is expected here");
}

TEST_CASE("every match option is understood", "[match][rule]")
{
    for (const char *options : {
             "content:\"a\"; fast_pattern:only;",
             "content:\"abc\"; fast_pattern:1,2; rawbytes;",
             "uricontent:\"/x\"; nocase;",
             "content:\"a\"; http_raw_uri; content:\"b\"; http_method; content:\"c\"; http_cookie;",
             "content:\"a\"; http_raw_header; content:\"b\"; http_raw_cookie;",
             "content:\"a\"; http_stat_code; content:\"b\"; http_stat_msg;",
             "content:\"a\"; http_client_body; offset:1; depth:10;",
             "pcre:\"/^a\\;[\\\"/]+/Rsmix\"; pcre:!\"/b/U\"; pcre:\"m|/x|i\";",
             "byte_extract:1,0,len,relative; content:\"a\"; offset:len; depth:len;",
             "byte_extract:2,0,n,string,hex,multiplier 2,align 4; isdataat:n,relative;",
             "byte_test:2,!&,0x10,0,relative,little; byte_test:4,>=,1,0,string,dec;",
             "byte_jump:4,0,relative,multiplier 4,align,post_offset -4,bitmask 0xff;",
             "byte_jump:0,0,from_end,post_offset -1; isdataat:!1,relative;",
             "file_data; pkt_data; base64_decode:bytes 4,offset 1,relative; base64_data;",
             "base64_decode; rpc:100000,*,3; ftpbounce;",
             "dsize:1<>2; urilen:<5,norm; flags:!SF; flags:S+,12; flags:0;",
             "seq:1; ack:2; window:!3; ttl:<4; ttl:5-6; tos:!7; ip_id:8; fragbits:M+;",
             "fragoffset:>9; ipopts:lsrr; ip_proto:!tcp; ip_proto:17; sameip;",
             "itype:1<>5; icode:>0; icmp_id:1; icmp_seq:2",
         }) {
        INFO(options);
        CHECK(refusal_of(options) == "accepted");
    }
}
