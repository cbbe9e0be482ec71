// SPDX-License-Identifier: MIT
// Counts: every filter and string on every real capture gives tcpdump's numbers.
#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <mapi/mapi.h>
#include <nlohmann/json.hpp>

#include "support/requires.hpp"

namespace
{
const std::string kTwoLinkTypes =
    "seladb+PcapPlusPlus/Tests/Pcap++Test/PcapExamples/pcapng-example.pcapng";

struct Counted {
    int flow;
    int packets;
    int bytes;
};

// Flow with one function followed by two counters; flow 0 if the function was refused.
template <class... Arguments> Counted count(const char *device, Arguments... arguments)
{
    Counted counted = {};
    counted.flow = mapi_create_flow(device);
    if constexpr (sizeof...(Arguments) > 0) {
        if (mapi_apply_function_counted(int(sizeof...(Arguments)) - 1, counted.flow, arguments...) <
            0) {
            mapi_close_flow(counted.flow);
            return {};
        }
    }
    counted.packets = mapi_apply_function(counted.flow, "PKT_COUNTER");
    counted.bytes = mapi_apply_function(counted.flow, "BYTE_COUNTER");
    mapi_connect(counted.flow);
    return counted;
}

uint64_t value(int flow, int function)
{
    return *static_cast<uint64_t *>(mapi_read_results_pointer(flow, function, MAPI_REF));
}

std::string pattern_of(const nlohmann::json &entry)
{
    return "|" + entry["hex"].get<std::string>() + "|";
}
} // namespace

TEST_CASE("filters and strings over real captures count what tcpdump counts", "[mapi-core][flow]")
{
    const auto data = test_support::shared_data();
    if (data.empty())
        return test_support::skip("the folder of real captures is missing");
    std::ifstream input(data / "EXPECTED_COUNTS.json");
    const auto expected = nlohmann::json::parse(input);
    size_t checked = 0;
    for (const auto &[name, capture] : expected["captures"].items()) {
        INFO(name);
        if (!std::filesystem::exists(data / name))
            continue; // some are not distributed; the sum below detects if most are missing
        if (name == kTwoLinkTypes)
            continue;
        char *device = mapi_create_offline_device((data / name).c_str(), MFF_PCAP);
        REQUIRE(device);
        std::vector<Counted> filters, strings;
        for (const auto &filter : expected["filters"]) {
            const std::string text = filter;
            filters.push_back(text.empty() ? count(device)
                                           : count(device, "BPF_FILTER", text.c_str()));
        }
        for (const auto &entry : expected["strings"]) {
            const bool fits =
                !entry["nocase"] &&
                entry["depth"].get<int>() * 2 >=
                    (entry["depth"] == 0 ? 0 : int(entry["hex"].get<std::string>().size()));
            strings.push_back(fits ? count(device, "STR_SEARCH", pattern_of(entry).c_str(),
                                           entry["offset"].get<int>(), entry["depth"].get<int>())
                                   : Counted{});
        }
        REQUIRE(mapi_start_offline_device(device) == 0);
        REQUIRE(mapi_wait_flow(filters[0].flow, -1) == 0);
        for (size_t i = 0; i < filters.size(); ++i) {
            const auto &want = capture["filters"][i];
            INFO(expected["filters"][i]);
            if (!want.is_array()) {
                CHECK(filters[i].flow == 0);
                continue;
            }
            REQUIRE(filters[i].flow > 0);
            CHECK(value(filters[i].flow, filters[i].packets) == want[0].get<uint64_t>());
            CHECK(value(filters[i].flow, filters[i].bytes) == want[1].get<uint64_t>());
            ++checked;
        }
        for (size_t i = 0; i < strings.size(); ++i) {
            INFO(expected["strings"][i].dump());
            if (strings[i].flow > 0)
                CHECK(value(strings[i].flow, strings[i].packets) ==
                      capture["strings"][i].get<uint64_t>());
        }
        for (const auto *list : {&filters, &strings})
            for (const Counted &counted : *list)
                if (counted.flow > 0)
                    mapi_close_flow(counted.flow);
        mapi_delete_offline_device(device);
    }
    CHECK(checked > 5000);
}

TEST_CASE("a capture is read up to the packet whose time exceeds 64-bit ns, which is reported",
          "[mapi-core][flow]")
{
    const auto data = test_support::shared_data();
    if (data.empty() || !std::filesystem::exists(data / kTwoLinkTypes))
        return test_support::skip("the folder of real captures is missing");
    char *const device = mapi_create_offline_device((data / kTwoLinkTypes).c_str(), MFF_PCAP);
    const int fd = mapi_create_flow(device);
    const int all = mapi_apply_function(fd, "PKT_COUNTER");
    mapi_apply_function(fd, "BPF_FILTER", "greater 0");
    const int judged = mapi_apply_function(fd, "PKT_COUNTER");
    mapi_connect(fd);
    mapi_start_offline_device(device);
    mapi_wait_flow(fd, -1);
    CHECK(value(fd, all) == 59); // capinfos: 59 Ethernet of 2015, 100 Linux cooked of 586524
    CHECK(value(fd, judged) == 59);
    mapi_stat stats = {};
    CHECK(mapi_stats(device, &stats) == 1);
    CHECK(std::string(stats.message).find("packet 60 has a timestamp") != std::string::npos);
    CHECK(stats.unread_bytes > 0);
    mapi_close_flow(fd);
    mapi_delete_offline_device(device);
}

TEST_CASE("the trace of the original test suite gives the original numbers", "[mapi-core][flow]")
{
    const auto data = test_support::shared_data();
    if (data.empty())
        return test_support::skip("the folder of real captures is missing");
    const int batch = GENERATE(64, 3, 1);
    char *device = mapi_create_offline_device((data / "mapi/tracefile").c_str(), MFF_PCAP);
    REQUIRE(device);
    REQUIRE(mapi_set_device_option(device, "batch", std::to_string(batch).c_str()) == 0);
    const Counted all = count(device);
    const Counted tcp = count(device, "BPF_FILTER", "tcp");
    const Counted www = count(device, "STR_SEARCH", "www", 0, 1500);
    const int copy = mapi_create_flow(device);
    const int buffer = mapi_apply_function(copy, "TO_BUFFER");
    mapi_connect(copy);
    mapi_start_offline_device(device);
    uint64_t captured = 0, squares = 0, first_ts = 0, last_ts = 0;
    while (const mapipkt *packet = mapi_get_next_pkt(copy, buffer)) {
        captured += packet->caplen;
        squares += uint64_t(packet->wlen) * packet->wlen;
        first_ts = first_ts ? first_ts : packet->ts;
        last_ts = packet->ts;
    }
    CHECK(mapi_wait_flow(all.flow, -1) == 0);
    CHECK(value(all.flow, all.packets) == 893);
    CHECK(value(all.flow, all.bytes) == 283464);
    CHECK(value(tcp.flow, tcp.packets) == 596);
    CHECK(value(www.flow, www.packets) == 2);
    CHECK(captured == 64834);
    CHECK(squares == 309175572);
    CHECK(double(last_ts - first_ts) / 4294967296.0 == Approx(118.654).margin(0.0006));
    for (const int flow : {all.flow, tcp.flow, www.flow, copy})
        mapi_close_flow(flow);
    mapi_delete_offline_device(device);
}
