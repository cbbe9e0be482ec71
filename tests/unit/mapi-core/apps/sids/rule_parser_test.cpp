// SPDX-License-Identifier: MIT
#include "rules.hpp"

using namespace sids_test;
using Steps = std::vector<std::string>;

TEST_CASE("a rule has an action, a filter and options", "[sids]")
{
    const sids::Rule rule = rule_of("count tcp and dst port 80; content: /bin/perl.exe; id:100;\n");
    CHECK_FALSE(rule.is_copy);
    CHECK(rule.id == 100);
    CHECK(rule.gid == 1);
    CHECK(rule.rev == 0);
    CHECK_FALSE(rule.priority);
    CHECK(steps_of("count tcp and dst port 80; content: /bin/perl.exe; id:100;") ==
          Steps{"BPF_FILTER tcp and dst port 80", "MATCH content: /bin/perl.exe;"});
}

TEST_CASE("a rule without a filter and options counts all packets", "[sids]")
{
    CHECK(steps_of("count; id:1;").empty());
    CHECK(steps_of("copy ; id:1;").empty());
    CHECK(rule_of("copy;id:1;").is_copy);
}

TEST_CASE("options of the rule describe its alerts", "[sids]")
{
    const sids::Rule rule =
        rule_of(R"(count; msg:"a \"b\"\; c"; rev: 7; gid:3; classtype: web-attack; priority:2; )"
                R"(reference:cve,1; reference: url,x.org/y; cooked; id:4294967295;)");
    CHECK(rule.message == "a \"b\"; c");
    CHECK(rule.rev == 7);
    CHECK(rule.gid == 3);
    CHECK(rule.class_type == "web-attack");
    CHECK(rule.priority == 2u);
    CHECK(rule.references == std::vector<std::string>{"cve,1", "url,x.org/y"});
    CHECK(rule.is_cooked);
    CHECK(rule.id == 4294967295u);
    CHECK(rule.steps.empty());
}

TEST_CASE("match options are passed on in their order and text", "[sids]")
{
    CHECK(
        steps_of(
            R"(count udp; content:"a;b|3b 3B|\"\\"; nocase; id:1; dsize:>100; pcre:"/a\/b;/i";)") ==
        Steps{"BPF_FILTER udp",
              R"(MATCH content:"a;b|3b 3B|\"\\"; nocase; dsize:>100; pcre:"/a\/b;/i";)"});
    CHECK(steps_of(R"(count; content: a\;b; id:1;)") == Steps{R"(MATCH content: a\;b;)"});
}

TEST_CASE("bits are tested and changed behind the match options", "[sids]")
{
    CHECK(steps_of("count tcp; flowbits:set,a; content:x; flow: established, to_server; "
                   "flowbits:noalert; flowbits: isset , b&c; flowbits:isnotset,d; "
                   "flowbits:toggle,e,g; id:1;") ==
          Steps{"BPF_FILTER tcp", "CONNECTION established, to_server", "MATCH content:x;",
                "CONNECTION_BITS isset:b&c; isnotset:d; set:a; toggle:e,g; noalert"});
    CHECK(steps_of("count; flowbits:isset,a; id:1;") ==
          Steps{"CONNECTION ", "CONNECTION_BITS isset:a"});
    CHECK(steps_of("count; flow:stateless; id:1;") == Steps{"CONNECTION stateless"});
}

TEST_CASE("what a connection has had is tested with its state", "[sids]")
{
    CHECK(steps_of("count tcp; ssl_version: sslv3,!tls1.0; content:x; flow:to_client; "
                   "stream_size:server,>,9; id:1;") ==
          Steps{"BPF_FILTER tcp",
                "CONNECTION to_client; ssl_version:sslv3,!tls1.0; "
                "stream_size:server,>,9",
                "MATCH content:x;"});
    CHECK(steps_of("count; ssl_state:unknown; id:1;") == Steps{"CONNECTION ssl_state:unknown"});
}

TEST_CASE("a detection filter precedes changes of bits, a threshold follows them", "[sids]")
{
    CHECK(steps_of("count; threshold: type limit, track by_src, count 1, seconds 60; content:x; "
                   "detection_filter:track by_dst, count 30, seconds 2; flowbits:set,a; "
                   "flowbits:isset,b; id:1;") ==
          Steps{"CONNECTION ", "MATCH content:x;", "CONNECTION_BITS isset:b",
                "RATE_FILTER detection_filter; track by_dst; count 30; seconds 2",
                "CONNECTION_BITS set:a",
                "RATE_FILTER threshold; type limit; track by_src; count 1; seconds 60"});
    CHECK(steps_of("count; threshold: type limit, track by_src, count 1, seconds 60; "
                   "flowbits:set,a; flowbits:isset,b; id:1;") ==
          Steps{"CONNECTION ", "CONNECTION_BITS isset:b; set:a",
                "RATE_FILTER threshold; type limit; track by_src; count 1; seconds 60"});
}

TEST_CASE("a byte of an argument has its place in the rule", "[sids]")
{
    const sids::Rule rule = rule_of("count tcp;  content:x; id:1;   distance:3; flow:a,b;");
    const sids::Argument &match = rule.steps.at(2).argument;
    CHECK(match.text() == "content:x; distance:3;");
    CHECK(match.place_of(0) == 12);
    CHECK(match.place_of(match.text().find("distance")) == rule.line->text.find("distance"));
    CHECK(match.place_of(match.text().find('3')) == rule.line->text.find('3'));
}

TEST_CASE("rules find the same packets if only their descriptions differ", "[sids]")
{
    const sids::Rule rule = rule_of("count tcp; content:x; msg:a; id:1;");
    CHECK(rule.finds_the_same(rule_of("count tcp; msg:b; rev:2; content:x; id:1;")));
    for (const char *other : {"copy tcp; content:x; id:1;", "count udp; content:x; id:1;",
                              "count tcp; content:y; id:1;", "count tcp; content:x; cooked; id:1;",
                              "count tcp; id:1;", "count tcp; content:x; flow:stateless; id:1;"})
        CHECK_FALSE(rule.finds_the_same(rule_of(other)));
}
