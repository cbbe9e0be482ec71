// SPDX-License-Identifier: MIT
// options: command line -> struct.
#include "support/catch.hpp"

#include <initializer_list>
#include <vector>

#include "options.hpp"

using namespace mapi_gen;

namespace
{
std::optional<int> parse(std::initializer_list<const char *> words, Options &options)
{
    std::vector<const char *> all = {"mapi-gen"};
    all.insert(all.end(), words);
    return parse_options(int(all.size()), all.data(), options);
}
} // namespace

TEST_CASE("only an interface is required", "[mapi_gen][options]")
{
    Options options;
    REQUIRE_FALSE(parse({"eth1"}, options));
    CHECK(options.interface == "eth1");
    CHECK(options.frame.wire_bytes == 64);
    CHECK(options.frame.source_ports == 1);
    CHECK_FALSE(options.rate.is_given());
    CHECK(options.packets == 0);
    CHECK(options.seconds == 0);
    CHECK(options.threads() == 1);
    CHECK(options.method == Method::kAuto);
    CHECK(options.format == "text");
}

TEST_CASE("options become numbers", "[mapi_gen][options]")
{
    Options options;
    REQUIRE_FALSE(parse({"--size",
                         "1518",
                         "--payload",
                         "text",
                         "--source-ports",
                         "100",
                         "--rate",
                         "1.5M",
                         "--count",
                         "2k",
                         "--duration",
                         "0.5",
                         "--cpus",
                         "0,2-3",
                         "--method",
                         "af_packet",
                         "--to",
                         "02:00:00:00:00:09",
                         "--to-address",
                         "10.0.0.1",
                         "--json",
                         "--quiet",
                         "eth1"},
                        options));
    CHECK(options.frame.wire_bytes == 1518);
    CHECK(options.frame.payload == Payload::kText);
    CHECK(options.frame.source_ports == 100);
    CHECK(options.frame.to_mac[5] == 9);
    CHECK(options.frame.to_address == 0x0a000001);
    CHECK(options.rate.packets_per_s == 1.5e6);
    CHECK(options.packets == 2000);
    CHECK(options.seconds == 0.5);
    CHECK(options.threads() == 3);
    CHECK(options.method == Method::kPacketSocket);
    CHECK(options.format == "json");
    CHECK(options.is_quiet);
}

TEST_CASE("what cannot be is invalid usage", "[mapi_gen][options]")
{
    Options options;
    CHECK(parse({}, options) == kExitUsage);
    CHECK(parse({"--rate", "1k"}, options) == kExitUsage);
    CHECK(parse({"--rate", "1k", "--bit-rate", "1M", "eth1"}, options) == kExitUsage);
    CHECK(parse({"--size", "63", "eth1"}, options) == kExitUsage);
    CHECK(parse({"--size", "1519", "eth1"}, options) == kExitUsage);
    CHECK(parse({"--count", "0.5", "eth1"}, options) == kExitUsage);
    CHECK(parse({"--source-ports", "0", "eth1"}, options) == kExitUsage);
    CHECK(parse({"--method", "dpdk", "eth1"}, options) == kExitUsage);
    CHECK(parse({"--capture", "a.pcap", "--size", "100", "eth1"}, options) == kExitUsage);
    CHECK(parse({"eth1", "eth2"}, options) == kExitUsage);
}
