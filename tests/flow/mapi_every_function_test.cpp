// SPDX-License-Identifier: MIT
// Every function processes every capture, including damaged ones; the sanitizer's findings are the
// test.
#include "support/catch.hpp"

#include <cstdlib>
#include <filesystem>
#include <numeric>

#include <mapi/functions.h>
#include <mapi/mapi.h>

#include "support/requires.hpp"
#include "support/temp_dir.hpp"

namespace
{
// One function of each kind, those that inspect packets the most.
const char *const kRules = "IP,SRC_IP,MAP\nIP,DST_IP,PREFIX_PRESERVING_MAP\nIP,OPTIONS,STRIP\nTCP,"
                           "TCP_OPTIONS,STRIP\nTCP,SRC_PORT,HASHED,AES,STRIP_REST\n"
                           "UDP,PAYLOAD,REGEXP,([a-z]+).*?(\\d),2,x,y\nHTTP,URI,HASHED,SHA_2,STRIP_"
                           "REST\nHTTP,COOKIE,STRIP\nHTTP,PAYLOAD,REPLACE,-\n"
                           "FTP,PASS,FILENAME_RANDOM\nICMP,PAYLOAD,STRIP,8\nIP,TTL,MAP_"
                           "DISTRIBUTION,GAUSSIAN,64,10\nIP,CHECKSUM,CHECKSUM_ADJUST";

// AddressSanitizer makes the functions' preparation slow: without NETSLICE_ALL_CAPTURES=yes, a
// third of the captures, the same ones each time, and all that were made to break dissectors.
bool is_chosen(const std::filesystem::path &capture)
{
#ifdef __SANITIZE_ADDRESS__
    const char *all = std::getenv("NETSLICE_ALL_CAPTURES");
    const std::string name = capture.filename();
    return (all && std::string(all) == "yes") ||
           capture.string().find("fuzz") != std::string::npos ||
           capture.string().find("malformed") != std::string::npos ||
           std::accumulate(name.begin(), name.end(), 0u) % 3 == 0;
#else
    (void)capture;
    return true;
#endif
}

// A flow with all of them; -1 if it is not a capture file.
int make_flow(const std::filesystem::path &capture, const test_support::TempDir &dir)
{
    int flow = mapi_create_offline_flow(capture.c_str(), MFF_PCAP);
    if (flow < 0)
        flow = mapi_create_offline_flow(capture.c_str(), MFF_DAG_ERF);
    if (flow < 0)
        return flow;
    const auto path = [&](const char *name) { return (dir / name).string(); };
    const int count = mapi_apply_function(flow, "PKT_COUNTER");
    const int bytes = mapi_apply_function(flow, "BYTE_COUNTER");
    const int size = mapi_apply_function(flow, "PKTINFO", PKT_SIZE);
    const int gap = mapi_apply_function(flow, "GAP");
    const int statistics = mapi_apply_function(flow, "STATS", flow, size, "0");
    const std::string all = std::to_string(count) + "@" + std::to_string(flow) + "," +
                            std::to_string(statistics) + "@" + std::to_string(flow);
    int last = 0;
    for (int layer = 0; layer < 4; ++layer) {
        const int hash = mapi_apply_function(flow, "HASH", layer);
        last = mapi_apply_function(flow, "DIST", flow, hash, "100", "400000", "1000");
        REQUIRE(last > 0);
    }
    const int functions[] = {
        mapi_apply_function(flow, "SYNC", std::to_string(flow).c_str()),
        mapi_apply_function(flow, "BINOP", BINOP_SUB, flow, bytes, flow, count),
        mapi_apply_function(flow, "DIST", flow, gap, "0", "10s", "1ms"),
        mapi_apply_function(flow, "BURST", 100, 100000, 100, 96, 1000, 1000, 1000),
        mapi_apply_function(flow, "TOP", 100, TOPX_IP, TOPX_IP_SRCIP, SORT_BY_BYTES, 1),
        mapi_apply_function(flow, "TOP", 1000, TOPX_TCP, TOPX_TCP_URGENT),
        mapi_apply_function(flow, "RES2FILE", "1,3", all.c_str(), "rows", path("rows").c_str(),
                            "1m", 1),
        mapi_apply_function(flow, "EXPIRED_FLOWS", 1000, 1000, 2),
        mapi_apply_function(flow, "FLOW_REPORT", "NETFLOW_V5", path("netflow5").c_str(), "", ""),
        mapi_apply_function(flow, "FLOW_REPORT", "NETFLOW_V9", path("netflow9").c_str(), "", ""),
        mapi_apply_function(flow, "CONNECTION", "to_server,midstream"),
        mapi_apply_function(flow, "CONNECTION_BITS", "toggle:a; set:b"),
        mapi_apply_function(flow, "RATE_FILTER",
                            "threshold; type limit; track by_dst; count 9; seconds 2"),
        mapi_apply_function(flow, "STARTSTOP", "+1ms", "+1h"),
        mapi_apply_function(flow, "TO_FILE", MFF_PCAP, path("packets").c_str(), 0),
        mapi_apply_function(flow, "COOKING", 3000, 10, 0, BOTH_SIDE),
        mapi_apply_function(flow, "UNCOOK", 1000),
        mapi_apply_function(flow, "ANONYMIZEIP", "0123456789abcdef0123456789abcdef"),
        mapi_apply_function(flow, "ANONYMIZE", kRules),
        mapi_apply_function(flow, "STR_SEARCH", "|00 00|", 4, 0),
        mapi_apply_function(flow, "REGEXP", "(?s)[^a-z]."),
        mapi_apply_function(flow, "MATCH", "content:!\"GET\"; pcre:!\"/a.b/U\"; byte_jump:1,0;"),
        mapi_apply_function(flow, "SAMPLE", 2, PERIODIC),
        mapi_apply_function(flow, "BPF_FILTER", "len > 60"),
        mapi_apply_function(flow, "HASHSAMP", 512, 0),
        mapi_apply_function(flow, "PKTSELECT", 1LL << 31, 0, 64, 0),
        mapi_apply_function(flow, "INTERFACE", 0),
        mapi_apply_function(flow, "TRACK_IPOVERIP"),
        mapi_apply_function(flow, "TRACK_MAPI"),
    };
    char error[MAPI_ERROR_TEXT_BYTES] = "";
    mapi_read_error(nullptr, error);
    INFO(capture << ": " << error);
    for (const int function : functions)
        REQUIRE(function > 0);
    return flow;
}
} // namespace

TEST_CASE("every function processes every capture", "[mapi-core][flow]")
{
    const auto data = test_support::shared_data();
    const test_support::TempDir dir;
    if (data.empty())
        return test_support::skip("the folder of real captures is missing");
    size_t captures = 0;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(data)) {
        if (!entry.is_regular_file() || entry.file_size() > (8u << 20) || !is_chosen(entry.path()))
            continue;
        const int flow = make_flow(entry.path(), dir);
        if (flow < 0)
            continue;
        INFO(entry.path());
        CHECK(mapi_connect(flow) == 0);
        CHECK(mapi_wait_flow(flow, 60000) == 0);
        CHECK(mapi_close_flow(flow) == 0);
        ++captures;
    }
    CHECK(captures > 100);
}

// nDPI is slow to start, so it gets only captures that were made to break dissectors.
TEST_CASE("TRACK processes every malformed capture", "[mapi-core][flow]")
{
    const auto data = test_support::shared_data();
    if (data.empty())
        return test_support::skip("the folder of real captures is missing");
    size_t captures = 0;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(data)) {
        const std::string name = entry.path().string();
        if (!entry.is_regular_file() ||
            (name.find("fuzz") == std::string::npos && name.find("malformed") == std::string::npos))
            continue;
        const int flow = mapi_create_offline_flow(name.c_str(), MFF_PCAP);
        if (flow < 0)
            continue;
        INFO(name);
        if (mapi_apply_function(flow, "TRACK", "HTTP") < 0) {
            char error[MAPI_ERROR_TEXT_BYTES] = "";
            mapi_read_error(nullptr, error);
            mapi_close_flow(flow);
            INFO(error);
            REQUIRE(std::string(error).find("without nDPI") != std::string::npos);
            return test_support::skip("built without nDPI");
        }
        CHECK(mapi_connect(flow) == 0);
        CHECK(mapi_wait_flow(flow, 60000) == 0);
        CHECK(mapi_close_flow(flow) == 0);
        ++captures;
    }
    CHECK(captures > 20);
}
