// SPDX-License-Identifier: MIT
// Formats: the driver that a call or mapi.conf names reads the file, and no other driver does.
#include "support/catch.hpp"

#include <cstdlib>
#include <fstream>

#include <mapi/functions.h>
#include <mapi/mapi.h>

#include "mapi-core/capture_builder.hpp"
#include "mapi-core/drivers/erf_builder.hpp"
#include "support/temp_dir.hpp"

using test_support::CaptureBuilder;
using test_support::Erf;
using test_support::TempDir;
using test_support::udp_frame;

namespace
{
// 30 frames, every third to port 53; the wire length includes the four bytes after the frame.
std::string write_erf(const TempDir &dir)
{
    CaptureBuilder capture;
    for (uint32_t i = 0; i < 30; ++i) {
        const std::string frame = udp_frame(2005, i % 3 == 0 ? 53 : 80, "payload");
        capture.text(
            Erf{.wire_len = uint16_t(frame.size() + 4), .seconds = 1000 + i, .frame = frame}
                .bytes());
    }
    return capture.write(dir / "capture.erf");
}

std::string last_error_text()
{
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    mapi_read_error(nullptr, text);
    return text;
}

void check_flow(int fd, const char *offline_device = nullptr)
{
    REQUIRE(fd > 0);
    const int bytes = mapi_apply_function(fd, "BYTE_COUNTER");
    REQUIRE(mapi_apply_function(fd, "BPF_FILTER", "udp port 53") > 0);
    const int packets = mapi_apply_function(fd, "PKT_COUNTER");
    REQUIRE(mapi_connect(fd) == 0);
    if (offline_device)
        REQUIRE(mapi_start_offline_device(offline_device) == 0);
    REQUIRE(mapi_wait_flow(fd, -1) == 0);
    CHECK(*static_cast<uint64_t *>(mapi_read_results(fd, packets)->res) == 10);
    CHECK(*static_cast<uint64_t *>(mapi_read_results(fd, bytes)->res) ==
          30 * (14 + 20 + 8 + 7 + 4));
    CHECK(mapi_close_flow(fd) == 0);
}
} // namespace

TEST_CASE("an ERF file is read by a flow, by an offline device and by a device of mapi.conf",
          "[mapi-core][client]")
{
    const TempDir dir;
    const std::string path = write_erf(dir);
    SECTION("flow")
    {
        check_flow(mapi_create_offline_flow(path.c_str(), MFF_DAG_ERF));
    }
    SECTION("device")
    {
        char *device = mapi_create_offline_device(path.c_str(), MFF_DAG_ERF);
        REQUIRE(device);
        check_flow(mapi_create_flow(device), device);
        CHECK(mapi_delete_offline_device(device) == 0);
    }
    SECTION("mapi.conf")
    {
        const std::string config = dir / "mapi.conf";
        std::ofstream(config) << "[driver]\ndevice=/dev/dag0\ndriver=erf_file\npath=" << path
                              << "\n";
        setenv("MAPI_CONF", config.c_str(), 1);
        check_flow(mapi_create_flow("/dev/dag0"));
        unsetenv("MAPI_CONF");
    }
}

TEST_CASE("a driver refuses files of other formats, and an unknown format is refused by its number",
          "[mapi-core][client]")
{
    const TempDir dir;
    CHECK(mapi_create_offline_flow(write_erf(dir).c_str(), MFF_PCAP) == -1);
    CHECK_THAT(last_error_text(), Catch::Contains("MFF_DAG_ERF"));
    const std::string pcap = CaptureBuilder().pcap_header().write(dir / "x.pcap");
    CHECK(mapi_create_offline_flow(pcap.c_str(), MFF_DAG_ERF) == -1);
    CHECK_THAT(last_error_text(), Catch::Contains("MFF_PCAP"));
    CHECK(mapi_create_offline_flow(pcap.c_str(), MFF_COMBO6) == -1);
    CHECK_THAT(last_error_text(), Catch::Contains("format 3"));
}

TEST_CASE("functions that write files refuse what they cannot write", "[mapi-core][client]")
{
    const TempDir dir;
    CaptureBuilder capture;
    capture.pcap_header().pcap_record(udp_frame(2005, 53, "a"), 47, 1000, 0);
    const int fd = mapi_create_offline_flow(capture.write(dir / "capture.pcap").c_str(), MFF_PCAP);
    const auto refused = [&](int result) {
        CHECK(result == -1);
        int number = 0;
        mapi_read_error(&number, nullptr);
        return number;
    };
    const int size = mapi_apply_function(fd, "PKTINFO", PKT_SIZE);
    const std::string file = (dir / "rows").string(),
                      of_size = std::to_string(size) + "@" + std::to_string(fd);
    const auto rows = [&](const char *types, const std::string &functions, const char *path,
                          const char *interval) {
        return refused(
            mapi_apply_function(fd, "RES2FILE", types, functions.c_str(), "", path, interval, 0));
    };
    CHECK(rows("1", "1", file.c_str(), "1s") == 7002);
    CHECK(rows("1", "1@", file.c_str(), "1s") == 7002);
    CHECK(rows("1", "@1", file.c_str(), "1s") == 7002);
    CHECK(rows("1", "99@99", file.c_str(), "1s") == 7002);
    CHECK(rows("4", of_size, file.c_str(), "1s") == 7001);
    CHECK(rows("1,1", of_size, file.c_str(), "1s") == 7001);
    CHECK(rows("3", of_size, file.c_str(), "1s") == 7002); // not STATS
    CHECK(rows("1", of_size, file.c_str(), "soon") == 7005);
    CHECK(rows("1", of_size, "/no/such/folder/file", "1s") == MAPI_ERROR_FILE);
    CHECK(refused(mapi_apply_function(fd, "TO_FILE", MFF_DAG_ERF, file.c_str(), 0)) == 7006);
    CHECK(refused(mapi_apply_function(fd, "TO_FILE", MFF_PCAP, file.c_str(), -1)) == 7003);
    CHECK(refused(mapi_apply_function(fd, "TO_FILE", MFF_PCAP, "/no/such/folder/file", 0)) ==
          MAPI_ERROR_FILE);
    const int distribution = mapi_apply_function(fd, "DIST", fd, size, "0", "10", "1");
    CHECK(rows("1", std::to_string(distribution) + "@" + std::to_string(fd), file.c_str(), "1s") ==
          7002); // an array
    mapi_close_flow(fd);
}
