// SPDX-License-Identifier: MIT
// convert: every option of Snort 2 -> what it becomes, word for word.
#include "support/catch.hpp"

#include <fstream>
#include <iterator>
#include <map>
#include <regex>

#include "body/option_table.hpp"
#include "convert.hpp"
#include "refused_at.hpp"

using namespace snort2sids;

namespace
{
constexpr const char *kIp = "count ip or ip6;";

Conversion convert_rule(const std::string &text, const Settings &settings = {})
{
    const Header header = read_header(text, Variables());
    return convert(header, header.action, split_options(text, header.body), settings);
}

// Of a rule with these options; what is left is before the id.
std::string convert_options(const std::string &options)
{
    const std::string rule =
        convert_rule("alert ip any any -> any any (" + options + " sid:1;)").rule;
    const size_t start = std::string(kIp).size();
    const size_t end = rule.find(" id: 1;");
    return rule.substr(start, end - start) + rule.substr(end + 7);
}

std::string refusal_of(const std::string &options)
{
    return refused_at([&] { convert_options(options); }).what;
}

struct Case {
    std::string snort, sids;
};

// For each option that has a counterpart.
const std::map<std::string, Case> kConverted = {
    {"content", {R"(content:!"a|3b|";)", R"( content: !"a|3B|";)"}},
    {"uricontent", {R"(uricontent:"/x";)", R"( uricontent: "/x";)"}},
    {"nocase", {R"(content:"a"; nocase;)", R"( content: "a"; nocase;)"}},
    {"rawbytes", {R"(content:"a"; rawbytes;)", R"( content: "a"; rawbytes;)"}},
    {"offset", {R"(content:"a"; offset: 3;)", R"( content: "a"; offset: 3;)"}},
    {"depth", {R"(content:"a"; depth:name;)", R"( content: "a"; depth: name;)"}},
    {"distance", {R"(content:"a"; distance:-3;)", R"( content: "a"; distance: -3;)"}},
    {"within", {R"(content:"a", within 3;)", R"( content: "a"; within: 3;)"}},
    {"fast_pattern",
     {R"(content:"a"; fast_pattern; content:"b"; fast_pattern:only; )"
      R"(content:"c"; fast_pattern: 0, 1;)",
      R"( content: "a"; fast_pattern; content: "b"; fast_pattern: only; )"
      R"(content: "c"; fast_pattern: 0,1;)"}},
    {"http_uri", {R"(content:"a"; http_uri;)", R"( content: "a"; http_uri;)"}},
    {"http_raw_uri", {R"(content:"a"; http_raw_uri;)", R"( content: "a"; http_raw_uri;)"}},
    {"http_header", {R"(content:"a"; http_header;)", R"( content: "a"; http_header;)"}},
    {"http_raw_header", {R"(content:"a"; http_raw_header;)", R"( content: "a"; http_raw_header;)"}},
    {"http_method", {R"(content:"a"; http_method;)", R"( content: "a"; http_method;)"}},
    {"http_cookie", {R"(content:"a"; http_cookie;)", R"( content: "a"; http_cookie;)"}},
    {"http_raw_cookie", {R"(content:"a"; http_raw_cookie;)", R"( content: "a"; http_raw_cookie;)"}},
    {"http_client_body",
     {R"(content:"a"; http_client_body;)", R"( content: "a"; http_client_body;)"}},
    {"http_stat_code", {R"(content:"a"; http_stat_code;)", R"( content: "a"; http_stat_code;)"}},
    {"http_stat_msg", {R"(content:"a"; http_stat_msg;)", R"( content: "a"; http_stat_msg;)"}},
    {"pcre", {R"(pcre:"/a\;b/Ri";)", R"( pcre: "/a\;b/Ri";)"}},
    {"byte_test",
     {"byte_test: 4, !>, 0x10, -2, relative, string, hex;",
      " byte_test: 4,!>,0x10,-2,relative,string,hex;"}},
    {"byte_jump",
     {"byte_jump:4,4,relative,multiplier 2,align,post_offset -1;",
      " byte_jump: 4,4,relative,multiplier 2,align,post_offset -1;"}},
    {"byte_extract", {"byte_extract:2, 0, size, little;", " byte_extract: 2,0,size,little;"}},
    {"byte_math",
     {"byte_math: bytes 2, offset -1, oper <<, rvalue 3, result n, relative, endian little;",
      " byte_math: bytes 2,offset -1,oper<<,rvalue 3,result n,relative,endian little;"}},
    {"isdataat", {"isdataat:!10, relative;", " isdataat: !10,relative;"}},
    {"dsize", {"dsize: 300 <> 400;", " dsize: 300<>400;"}},
    {"urilen", {"urilen:>10,norm;", " urilen: >10,norm;"}},
    {"file_data", {"file_data;", " file_data;"}},
    {"pkt_data", {"pkt_data;", " pkt_data;"}},
    {"base64_decode",
     {"base64_decode: bytes 12, offset 3, relative;",
      " base64_decode: bytes 12,offset 3,relative;"}},
    {"base64_data", {"base64_data;", " base64_data;"}},
    {"rpc", {"rpc:100000, *, 3;", " rpc: 100000,*,3;"}},
    {"ftpbounce", {"ftpbounce;", " ftpbounce;"}},
    {"sip_method",
     {"sip_method: INVITE, bye; sip_method:!ack;", " sip_method: INVITE,bye; sip_method: !ack;"}},
    {"sip_stat_code", {"sip_stat_code: 4, 200;", " sip_stat_code: 4,200;"}},
    {"sip_header",
     {R"(sip_header; content:"a"; pkt_data;)", R"( sip_header; content: "a"; pkt_data;)"}},
    {"sip_body", {R"(sip_body; content:"a";)", R"( sip_body; content: "a";)"}},
    {"asn1",
     {"asn1: double_overflow, Oversize_length 500, relative_offset -2;",
      " asn1: double_overflow,oversize_length 500,relative_offset -2;"}},
    {"flags", {"flags:SF,12; flags:A+;", " flags: SF,12; flags: A+;"}},
    {"seq", {"seq:7;", " seq: 7;"}},
    {"ack", {"ack:0;", " ack: 0;"}},
    {"window", {"window:!55808;", " window: !55808;"}},
    {"ttl", {"ttl:<3; ttl:>=5; ttl:3-5;", " ttl: <3; ttl: >=5; ttl: 3-5;"}},
    {"tos", {"tos:!4;", " tos: !4;"}},
    {"id", {"id:31337;", " ip_id: 31337;"}},
    {"fragbits", {"fragbits:M+; fragbits:!D;", " fragbits: M+; fragbits: !D;"}},
    {"fragoffset", {"fragoffset:>0;", " fragoffset: >0;"}},
    {"ipopts", {"ipopts:lsrr;", " ipopts: lsrr;"}},
    {"ip_proto", {"ip_proto:!6; ip_proto:igmp;", " ip_proto: !6; ip_proto: 2;"}},
    {"sameip", {"sameip;", " sameip;"}},
    {"itype", {"itype:>3; itype:1<>5;", " itype: >3; itype: 1<>5;"}},
    {"icode", {"icode:0;", " icode: 0;"}},
    {"icmp_id", {"icmp_id:666;", " icmp_id: 666;"}},
    {"icmp_seq", {"icmp_seq: 0;", " icmp_seq: 0;"}},
    {"sid", {"", ""}},
    {"msg", {R"(msg:"a \"b\"\; c";)", R"( msg: "a \"b\"; c";)"}},
    {"rev", {"rev:3;", " rev: 3;"}},
    {"gid", {"gid:3;", " gid: 3;"}},
    {"priority", {"priority:1;", " priority: 1;"}},
    {"classtype", {"classtype:bad-unknown;", " classtype: bad-unknown;"}},
    {"reference",
     {"reference:cve,1999-1; reference:url,a;", " reference: cve,1999-1; reference: url,a;"}},
    {"flow", {"flow:to_server,established;", " flow: established,to_server;"}},
    {"flowbits",
     {R"(flowbits:noalert; content:"x"; flowbits:isset,b; flowbits:set,a;)",
      R"( flowbits: isset,b; content: "x"; flowbits: set,a; flowbits: noalert;)"}},
    {"ssl_version", {"ssl_version: TLS1.0, !sslv3;", " ssl_version: tls1.0,!sslv3;"}},
    {"ssl_state", {"ssl_state:server_hello;", " ssl_state: server_hello;"}},
    {"stream_size", {"stream_size: client, >=, 100;", " stream_size: client,>=,100;"}},
    {"threshold",
     {R"(threshold:type limit,track by_src,count 1,seconds 60; content:"x";)",
      R"( content: "x"; threshold: type limit, track by_src, count 1, seconds 60;)"}},
    {"detection_filter",
     {"detection_filter: track by_dst, count 30, seconds 60;",
      " detection_filter: track by_dst, count 30, seconds 60;"}},
};
} // namespace

TEST_CASE("each option of Snort 2 has its counterpart, is left out with a note, or is refused",
          "[snort2sids][convert]")
{
    for (const OptionKind &kind : all_options()) {
        const std::string name(kind.name);
        INFO(name);
        const auto converted = kConverted.find(name);
        if (kind.becomes == Becomes::kRefused) {
            CHECK(refusal_of(name + ":1;").starts_with(name + ": "));
        } else if (kind.becomes == Becomes::kNote) {
            const Conversion conversion =
                convert_rule("alert ip any any -> any any (" + name + ":1; sid:1;)");
            CHECK(conversion.rule == std::string(kIp) + " id: 1;");
            REQUIRE(conversion.notes.size() == 1);
            CHECK(conversion.notes.begin()->starts_with(name + ": "));
        } else {
            REQUIRE(converted != kConverted.end());
            CHECK(convert_options(converted->second.snort) == converted->second.sids);
        }
    }
    CHECK(kConverted.size() < all_options().size()); // some are left out or refused
}

TEST_CASE("the manual says of each option what becomes of it", "[snort2sids][convert]")
{
    std::ifstream file(TEST_SOURCE_DIR "/mapi-core/apps/snort2sids/snort2sids.1");
    std::string page{std::istreambuf_iterator<char>(file), {}};
    page = page.substr(page.find(".SH RULE OPTIONS"));
    for (size_t at = 0; (at = page.find("\\-", at)) != page.npos;)
        page.erase(at, 1);
    for (const OptionKind &kind : all_options()) {
        INFO(kind.name);
        CHECK(std::regex_search(page,
                                std::regex("(^|[\\n ])" + std::string(kind.name) + "[,\\n\\t]")));
        if (kind.becomes == Becomes::kRefused)
            CHECK(page.rfind(kind.name) > page.find(".SH REFUSALS"));
    }
}

TEST_CASE("options keep the order that sids needs", "[snort2sids][convert]")
{
    CHECK(convert_rule(R"(alert tcp any any -> any 80 (msg:"m"; sid:5; rev:2; flowbits:isset,a; )"
                       R"(content:"x"; depth:9; flow:established; id:7; flowbits:set,b; )"
                       R"(threshold:type both,track by_dst,count 2,seconds 3;))")
              .rule ==
          "count tcp and not ip[6:2] & 0x3fff > 0 and not ip6[6] = 44 and tcp dst port 80; flow: "
          "established; flowbits: isset,a; content: \"x\"; depth: 9; ip_id: 7; flowbits: set,b; "
          "threshold: type both, track by_dst, count 2, seconds 3; id: 5; msg: \"m\"; rev: 2;");
}

TEST_CASE("actions that stop packets count them, with a note", "[snort2sids][convert]")
{
    CHECK(convert_rule("log ip any any -> any any (sid:1;)").notes.empty());
    for (const char *const action : {"drop", "block", "reject", "sdrop", "activate"}) {
        const Conversion conversion =
            convert_rule(std::string(action) + " ip any any -> any any (sid:1;)");
        CHECK(conversion.rule == std::string(kIp) + " id: 1;");
        CHECK(conversion.notes.begin()->starts_with(action));
    }
    for (const char *const action : {"pass", "dynamic"})
        CHECK(refused_at([&] {
                  convert_rule(std::string(action) + " ip any any -> any any (sid:1;)");
              }).reason.starts_with(action));
}

TEST_CASE("a rule that is malformed or incomplete is refused with the reason",
          "[snort2sids][convert]")
{
    CHECK(refused_at([] { convert_rule("alert ip any any -> any any (msg:\"a\";)"); }).reason ==
          "no sid");
    CHECK(refusal_of("frobnicate:1;") == "unknown option: \"frobnicate\"");
    CHECK(refusal_of("depth:3;") == "malformed rule: \"depth\" requires a content before it");
    CHECK(refusal_of("rev:1; rev:2;") == "malformed rule: \"rev\" appears twice");
    CHECK(refusal_of("sid:2;") == "malformed rule: \"sid\" appears twice");
    CHECK(refusal_of("sameip:1;") == "malformed sameip: it takes no value");
    CHECK(refusal_of("dsize;") == "malformed dsize: the value is missing");
    CHECK(refusal_of("dsize:>;") == "malformed dsize: \">\"");
    CHECK(refusal_of("ip_proto:xyz;") == "malformed ip_proto: \"xyz\" is unknown: use its number");
    CHECK(refusal_of(R"(content:"a", color 3;)") ==
          "malformed content: \"color\" is not a modifier");
    CHECK(refusal_of("byte_test:4,>,1,0,dce;").starts_with("byte_test dce: "));
    CHECK(refusal_of("metadata:engine shared, soid 3|1;").starts_with("metadata: "));
    CHECK(refused_at([] { convert_rule("alert tcp any any -> any [80,!80] (sid:1;)"); }).reason ==
          "no packet can match");
}

TEST_CASE("only rules about established streams inspect streams, and only if asked to",
          "[snort2sids][convert]")
{
    const auto is_cooked = [](const std::string &options, bool cooks = true) {
        const std::string rule =
            convert_rule("alert tcp any any -> any any (sid:1; " + options + ")", {false, cooks})
                .rule;
        return rule.find(" cooked;") != rule.npos;
    };
    CHECK(is_cooked("flow:established;"));
    CHECK(is_cooked("flow:only_stream;"));
    CHECK_FALSE(is_cooked("flow:established;", false));
    CHECK_FALSE(is_cooked("flow:to_server;"));
    CHECK_FALSE(is_cooked("flow:established,no_stream;"));
    CHECK_FALSE(is_cooked("flow:established; dsize:>3;"));
    CHECK(refused_at([&] { is_cooked("flow:only_stream;", false); }).offset == 42);
    CHECK(convert_rule("alert ip any any -> any any (sid:1;)", {true, false}).rule ==
          "copy ip or ip6; id: 1;");
}
