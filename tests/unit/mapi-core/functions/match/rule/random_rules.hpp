// SPDX-License-Identifier: MIT
// Random rules, and packets that contain parts of them.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "rule_packet.hpp"

namespace rule_test
{
// below(n): a number from 0 to n - 1, random or of a fuzzer's input.
class RuleMaker
{
public:
    explicit RuleMaker(std::function<uint32_t(uint32_t)> below) : below_(std::move(below)) {}

    std::string options()
    {
        std::string options;
        if (below_(4) == 0)
            options += pick({"dsize:>10;", "flags:S+;", "ip_proto:6;", "ttl:64;", "itype:8;",
                             "urilen:<9;", "dsize:0;", "ip_proto:!6;"});
        const uint32_t contents = below_(6) == 0 ? 0 : 1 + below_(3);
        for (uint32_t i = 0; i < contents; ++i)
            options += content(i > 0);
        if (below_(5) == 0)
            options += pick({"pcre:\"/a.?b/\";", "pcre:\"/^c/R\";", "pcre:!\"/d/i\";",
                             "isdataat:3,relative;", "isdataat:!9;", "byte_test:1,>,97,0,relative;",
                             "byte_jump:1,0,bitmask 0x3; isdataat:1,relative;",
                             "pcre:\"/a+\\/b/U\";", "file_data; content:\"ab\";"});
        if (below_(6) == 0)
            options += base64();
        if (below_(8) == 0)
            options += protocol();
        return options.empty() ? "dsize:>0;" : options;
    }

    Bytes frame()
    {
        std::string payload =
            pick({"", "", "GET /", "HTTP/1.1 200 OK\r\n\r\n", "ACK a SIP/2.0\r\nl:9\r\n\r\n",
                  "SIP/2.0 200 a\r\nl:1\n\n", "\x30\x80\x03\x02\x10"});
        for (uint32_t parts = below_(12); parts > 0; --parts)
            payload += below_(3) == 0 && !contents_.empty()
                           ? contents_[below_(uint32_t(contents_.size()))]
                           : noise(1 + below_(9));
        switch (below_(8)) {
        case 0: return udp(payload);
        case 1: return icmp(8, 0, payload);
        default: return tcp(payload);
        }
    }

private:
    std::string pick(const std::vector<std::string> &texts)
    {
        return texts[below_(uint32_t(texts.size()))];
    }

    std::string noise(uint32_t bytes)
    {
        static const std::string kLetters = "aaabbcdABC/\1";
        std::string text;
        while (text.size() < bytes)
            text += kLetters[below_(uint32_t(kLetters.size()))];
        return text;
    }

    // Noise consists of characters of base64.
    std::string base64()
    {
        return pick({"", "base64_decode;", "base64_decode:relative;",
                     "base64_decode:bytes 4,offset 1;"}) +
               pick({"", "base64_data;"}) +
               pick({"", "isdataat:2,relative;", "content:\"i\"; isdataat:1,relative;",
                     "content:\"I\"; nocase; content:\"i\"; nocase; distance:1;",
                     "pcre:\"/[a-z]/R\"; byte_test:1,>,97,0,relative;", "pkt_data;"});
    }

    std::string protocol()
    {
        return pick({"sip_method:ack;", "sip_method:!bye;", "sip_stat_code:2;", "sip_header;",
                     "sip_body;", "asn1:bitstring_overflow;",
                     "content:\"a\"; asn1:oversize_length 9,relative_offset 0;",
                     "byte_math:bytes 1,offset 0,oper -,rvalue 96,result r; isdataat:r;"}) +
               pick({"", "content:\"a\";", "content:!\"a\";", "pkt_data; content:\"b\";",
                     "content:\"A\"; nocase; content:\"b\"; distance:1;", "pcre:\"/a/R\";"});
    }

    std::string content(bool can_be_relative)
    {
        const uint32_t bytes = below_(3) == 0 ? 1 + below_(4) : 1 + below_(20);
        const std::string text = noise(bytes);
        contents_.push_back(text);
        std::string option = std::string("content:") + (below_(8) == 0 ? "!" : "") + "\"" + text +
                             "\";" + (below_(3) == 0 ? " nocase;" : "");
        const auto number = [&](uint32_t most) { return std::to_string(below_(most)) + ";"; };
        const std::string length = std::to_string(bytes + (below_(2) ? 0 : below_(20))) + ";";
        if (below_(8) == 0)
            option += pick({" http_uri;", " http_method;", " rawbytes;", " http_header;"});
        switch (below_(can_be_relative ? 6 : 4)) {
        case 0: return option + " depth:" + length;
        case 1: return option + " offset:" + number(12) + " depth:" + length;
        case 2:
        case 3: return option;
        case 4: return option + " distance:" + number(4);
        default: return option + " distance:" + number(4) + " within:" + length;
        }
    }

    std::function<uint32_t(uint32_t)> below_;
    std::vector<std::string> contents_;
};
} // namespace rule_test
