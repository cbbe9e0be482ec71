// SPDX-License-Identifier: MIT
// Arguments of a wrong type are refused with their number, in C and C++; names and argument forms
// of MAPI 1 and 2 are accepted.
#include "mapi-core/client/argument_types.h"

#include <cstddef>
#include <string>

#include "mapi-core/capture_builder.hpp"
#include "mapi/functions.h"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace
{
struct OfflineFlow {
    OfflineFlow()
    {
        test_support::CaptureBuilder capture;
        capture.pcap_header();
        for (uint32_t i = 0; i < 300; ++i)
            capture.pcap_record(test_support::udp_frame(uint16_t(2000 + i % 10), 53, "text"), 46,
                                1000 + i, 0);
        fd = mapi_create_offline_flow(capture.write(dir / "capture.pcap").c_str(), MFF_PCAP);
        REQUIRE(fd > 0);
    }
    ~OfflineFlow() { mapi_close_flow(fd); }

    const test_support::TempDir dir;
    int fd = 0;
};

// The error number and its text.
std::string error_of(int result)
{
    if (result > 0)
        return "none";
    int number = 0;
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    mapi_read_error(&number, text);
    return std::to_string(number) + " " + text;
}
} // namespace

TEST_CASE("an argument of a wrong type is refused with its number, in C", "[mapi-core][client]")
{
    const OfflineFlow flow;
    const auto error = [&](call_in_c call) { return error_of(apply_in_c(flow.fd, call)); };
    CHECK(error(CALL_INT_FOR_TEXT) == "7001 BPF_FILTER: argument 1 is an int, not a string");
    CHECK(error(CALL_ZERO_FOR_TEXT) == "7001 BPF_FILTER: argument 1 is an int, not a string");
    CHECK(error(CALL_NULL_FOR_TEXT) == "7001 BPF_FILTER: argument 1 is a null pointer");
    CHECK(error(CALL_STRUCT_FOR_TEXT) == "7001 BPF_FILTER: argument 1 is a pointer, not a string");
    CHECK(error(CALL_TEXT_FOR_INT) == "7001 SAMPLE: argument 1 is a string, not an int");
    CHECK(error(CALL_DOUBLE_FOR_INT) ==
          "7002 SAMPLE: argument 2 is a floating-point number, not an int");
    CHECK(error(CALL_WIDE_FOR_INT) ==
          "7001 SAMPLE: argument 1: 4294967296 does not fit into an int");
    CHECK(error(CALL_UNSIGNED_FOR_INT) ==
          "7001 SAMPLE: argument 1: 4294967295 does not fit into an int");
    for (const call_in_c call : {CALL_ARRAY, CALL_BYTES, CALL_MEMORY, CALL_NARROW_AND_ENUM,
                                 CALL_LONG, CALL_NESTED, CALL_INT_FOR_WIDE})
        CHECK(error(call) == "none");
}

TEST_CASE("an argument of a wrong type is refused with its number, in C++", "[mapi-core][client]")
{
    const OfflineFlow flow;
    const int fd = flow.fd;
    CHECK(error_of(mapi_apply_function(fd, "BPF_FILTER", 7)) ==
          "7001 BPF_FILTER: argument 1 is an int, not a string");
    CHECK(error_of(mapi_apply_function(fd, "BPF_FILTER", nullptr)) ==
          "7001 BPF_FILTER: argument 1 is a null pointer");
    CHECK(error_of(mapi_apply_function(fd, "BPF_FILTER", NULL)) ==
          "7001 BPF_FILTER: argument 1 is a 64-bit number, not a string");
    CHECK(error_of(mapi_apply_function(fd, "BPF_FILTER", &fd)) ==
          "7001 BPF_FILTER: argument 1 is a pointer, not a string");
    CHECK(error_of(mapi_apply_function(fd, "SAMPLE", "5", "PERIODIC")) ==
          "7001 SAMPLE: argument 1 is a string, not an int");
    CHECK(error_of(mapi_apply_function(fd, "SAMPLE", 5, 2.0f)) ==
          "7002 SAMPLE: argument 2 is a floating-point number, not an int");
    CHECK(error_of(mapi_apply_function(fd, "SAMPLE", ~0ull, PERIODIC)) ==
          "7001 SAMPLE: argument 1: 18446744073709551615 does not fit into an int");
    CHECK(error_of(mapi_apply_function(fd, "SAMPLE", 5)) ==
          "7002 SAMPLE: argument 2, an int, is missing");
    CHECK(error_of(mapi_apply_function(fd, "SAMPLE", 5, PERIODIC, 1)) ==
          "7003 SAMPLE: takes 2 arguments, not 3");
    char text[] = "udp";
    CHECK(error_of(mapi_apply_function(fd, "BPF_FILTER", text)) == "none");
    CHECK(error_of(mapi_apply_function(fd, "HASH", true)) == "none");
    CHECK(error_of(mapi_apply_function(fd, "HASH", 1ull)) == "none");
}

TEST_CASE("a call through a pointer, where types are not checked, still works",
          "[mapi-core][client]")
{
    const OfflineFlow flow;
    int (*const call)(int, const char *, ...) = mapi_apply_function;
    CHECK(call(flow.fd, "SAMPLE_PACKETS", "5", "PROBABILISTIC") > 0);
    CHECK(call(flow.fd, "SAMPLE", 5, PERIODIC) > 0);
}

TEST_CASE("SAMPLE_PACKETS takes numbers, strings, and one of each", "[mapi-core][client]")
{
    const OfflineFlow flow;
    CHECK(error_of(mapi_apply_function(flow.fd, "SAMPLE_PACKETS", 1, PERIODIC)) == "none");
    CHECK(error_of(mapi_apply_function(flow.fd, "SAMPLE_PACKETS", "2", PERIODIC)) == "none");
    CHECK(error_of(mapi_apply_function(flow.fd, "SAMPLE_PACKETS", 3, "PERIODIC")) == "none");
    const int counter = mapi_apply_function(flow.fd, "PKT_COUNTER");
    CHECK(error_of(mapi_apply_function(flow.fd, "SAMPLE_PACKETS", 3, 7)) ==
          "7002 SAMPLE_PACKETS: mode 7 is neither 2 (PERIODIC) nor 3 (PROBABILISTIC)");
    CHECK(error_of(mapi_apply_function(flow.fd, "SAMPLE_PACKETS", "3", "ODD")) ==
          "7002 SAMPLE_PACKETS: mode \"ODD\" is neither 2 (PERIODIC) nor 3 (PROBABILISTIC)");
    CHECK(error_of(mapi_apply_function(flow.fd, "SAMPLE_PACKETS", 3.0, PERIODIC)) ==
          "7001 SAMPLE_PACKETS: argument 1 is a floating-point number, not a number or a string");
    REQUIRE(mapi_connect(flow.fd) == 0);
    REQUIRE(mapi_wait_flow(flow.fd, -1) == 0);
    CHECK(*static_cast<uint64_t *>(mapi_read_results(flow.fd, counter)->res) == 50);
    mapi_flow_info_t info;
    REQUIRE(mapi_get_flow_info(flow.fd, &info) == 0);
    CHECK(uint64_t(info.start) == info.start_us / 1000000);
    CHECK(uint64_t(info.end) == info.end_us / 1000000);
}

TEST_CASE("a name may include MAPI 2's library and device type", "[mapi-core][client]")
{
    const OfflineFlow flow;
    for (const char *name :
         {"stdflib:BYTE_COUNTER", "mapi:PKT_COUNTER", "PKT_COUNTER!1", "stdflib:PKT_COUNTER!1.3.1"})
        CHECK(error_of(mapi_apply_function(flow.fd, name)) == "none");
    CHECK(error_of(mapi_apply_function(flow.fd, "extraflib:PKT_COUNTER")) ==
          "6144 extraflib:PKT_COUNTER: library \"extraflib\" has no function PKT_COUNTER; it is in "
          "\"mapi\"");
    CHECK(error_of(mapi_apply_function(flow.fd, "PKT_COUNTER!1.1")) ==
          "6144 PKT_COUNTER!1.1: unsupported device type \"1.1\"; available: 1, 1.3, 1.3.1 and 1.4 "
          "(software)");
}

TEST_CASE("UNCOOK takes MAPI 2's three arguments", "[mapi-core][client]")
{
    const OfflineFlow flow;
    CHECK(error_of(mapi_apply_function(flow.fd, "anonflib:UNCOOK", -1, 70000, 0)) == "none");
    CHECK(error_of(mapi_apply_function(flow.fd, "UNCOOK", 70000)).starts_with("7001 "));
    CHECK(error_of(mapi_apply_function(flow.fd, "UNCOOK", 500, 1)).starts_with("7003 "));
}
