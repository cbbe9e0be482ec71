// SPDX-License-Identifier: MIT
// SYNC's list of flows, as programs pass it.
#include "support/catch.hpp"

#include <string>

#include <mapi/mapi.h>

#include "mapi-core/capture_builder.hpp"
#include "support/temp_dir.hpp"

namespace
{
// The number of the error.
int refused(int flow, const std::string &list, const std::string &why)
{
    int number = 0;
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    REQUIRE(mapi_apply_function(flow, "SYNC", list.c_str()) == -1);
    mapi_read_error(&number, text);
    INFO(text);
    CHECK(std::string(text).find(why) != std::string::npos);
    return number;
}
} // namespace

TEST_CASE("existing flows of a list are accepted, and others are refused by name",
          "[mapi-core][client]")
{
    const test_support::TempDir dir;
    test_support::CaptureBuilder capture;
    const std::string path =
        capture.pcap_header().pcap_record("packet", 60).write(dir / "capture.pcap");
    char *device = mapi_create_offline_device(path.c_str(), MFF_PCAP);
    REQUIRE(device);
    const int one = mapi_create_flow(device), two = mapi_create_flow(device);
    const std::string both = std::to_string(one) + "," + std::to_string(two);
    REQUIRE(mapi_apply_function(one, "SYNC", both.c_str()) > 0);
    const int count = mapi_apply_function(one, "PKT_COUNTER");
    CHECK(refused(one, "16000", "no flow 16000") == MFUNCT_INVALID_ARGUMENT_1);
    for (const char *list : {"", ",", "1,", "1 2", "x", "99999999999999999999"})
        CHECK(refused(one, list, "is not a list of flows") == MFUNCT_INVALID_ARGUMENT_1);
    CHECK(mapi_connect(one) == 0);
    CHECK(mapi_connect(two) == 0);
    CHECK(mapi_start_offline_device(device) == 0);
    CHECK(mapi_wait_flow(one, 10000) == 0);
    CHECK(*static_cast<uint64_t *>(mapi_read_results(one, count)->res) == 1);
    mapi_close_flow(one);
    mapi_close_flow(two);
    mapi_delete_offline_device(device);
}
