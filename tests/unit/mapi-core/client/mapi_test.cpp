// SPDX-License-Identifier: MIT
// libmapi: the API as a program sees it, with its errors.
#include "support/catch.hpp"

#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <malloc.h>

#include <mapi/functions.h>
#include <mapi/mapi.h>

#include "mapi-core/capture_builder.hpp"
#include "support/temp_dir.hpp"

using test_support::CaptureBuilder;
using test_support::TempDir;
using test_support::udp_frame;

namespace
{
// 300 frames: ports 2000 to 2009 in turn, every third with "www".
std::string write_capture(const TempDir &dir)
{
    CaptureBuilder capture;
    capture.pcap_header();
    for (uint32_t i = 0; i < 300; ++i) {
        const std::string frame =
            udp_frame(uint16_t(2000 + i % 10), 53, i % 3 == 0 ? "a www b" : "nothing");
        capture.pcap_record(frame, uint32_t(frame.size()) + 10, 1000 + i, 500000);
    }
    return capture.write(dir / "capture.pcap");
}

int last_error(std::string *text = nullptr)
{
    int number = 0;
    char buffer[MAPI_ERROR_TEXT_BYTES] = "";
    mapi_read_error(&number, buffer);
    if (text)
        *text = buffer;
    return number;
}

uint64_t value(int fd, int fid)
{
    const mapi_results_t *results = mapi_read_results(fd, fid);
    REQUIRE(results != nullptr);
    REQUIRE(results->size == 8);
    return *static_cast<uint64_t *>(results->res);
}
} // namespace

TEST_CASE("an offline flow counts what its filters pass, with both generations of calls",
          "[mapi-core][client]")
{
    const TempDir dir;
    const int fd = mapi_create_offline_flow(write_capture(dir).c_str(), MFF_PCAP);
    REQUIRE(fd > 0);
    const int all = mapi_apply_function(fd, "PKT_COUNTER");
    const int bytes = mapi_apply_function(fd, "BYTE_COUNTER");
    REQUIRE(mapi_apply_function(fd, "BPF_FILTER", "src port 2005") > 0);
    const int filtered = mapi_apply_function(fd, "PKT_COUNTER");
    REQUIRE(mapi_apply_function(fd, "STR_SEARCH", "w|77|w", 42, 0) > 0);
    const int found = mapi_apply_function(fd, "PKT_COUNTER");
    int (*apply_through_pointer)(int, const char *, ...) =
        mapi_apply_function; // has only MAPI 2's arguments
    REQUIRE(apply_through_pointer(fd, "STR_SEARCH", "www", 0, 0) > 0);
    REQUIRE(mapi_apply_function(fd, "STR_SEARCH", "|57|Ww", 42, 0, "nocase") > 0);
    const int found_in_any_case = mapi_apply_function(fd, "PKT_COUNTER");
    REQUIRE(mapi_apply_function(fd, "STR_SEARCH", "WWW", 42, 0, "") > 0);
    const int found_in_capitals = mapi_apply_function(fd, "PKT_COUNTER");
    REQUIRE(mapi_connect(fd) == 0);
    REQUIRE(mapi_wait_flow(fd, -1) == 0);

    CHECK(value(fd, all) == 300);
    CHECK(value(fd, bytes) == 300 * (14 + 20 + 8 + 7 + 10));
    CHECK(value(fd, filtered) == 30);
    const auto *old_style =
        static_cast<unsigned long long *>(mapi_read_results(fd, found, MAPI_REF));
    CHECK(*old_style == 10);
    CHECK(value(fd, found_in_any_case) == 10);
    CHECK(value(fd, found_in_capitals) == 0);
    CHECK(static_cast<unsigned long long *>(mapi_get_result(fd, found, 1)) == old_style);
    mapi_results_t *(*through_pointer)(int, int) = mapi_read_results;
    CHECK(*static_cast<uint64_t *>(through_pointer(fd, all)->res) == 300);
    CHECK(mapi_close_flow(fd) == 0);
    CHECK(mapi_close_flow(fd) == -1);
    CHECK(last_error() == MAPI_INVALID_FLOW);
}

TEST_CASE("packets leave the buffer as they are in the file, then NULL", "[mapi-core][client]")
{
    const TempDir dir;
    char *device = mapi_create_offline_device(write_capture(dir).c_str(), MFF_PCAP);
    REQUIRE(device);
    const int fd = mapi_create_flow(device);
    const int buffer = mapi_apply_function(fd, "TO_BUFFER");
    REQUIRE(mapi_connect(fd) == 0);
    REQUIRE(mapi_start_offline_device(device) == 0);
    for (uint32_t i = 0; i < 300; ++i) {
        const mapipkt *packet = mapi_get_next_pkt(fd, buffer);
        REQUIRE(packet);
        REQUIRE(packet->caplen == 49);
        REQUIRE(packet->wlen == 59);
        REQUIRE(packet->ts == ((uint64_t(1000 + i) + 2208988800u) << 32 | 0x80000000u));
        REQUIRE((&packet->pkt)[35] == 2000 % 256 + i % 10);
    }
    CHECK(mapi_get_next_pkt(fd, buffer) == nullptr);
    CHECK(last_error() == 0);
    CHECK(mapi_close_flow(fd) == 0);
    CHECK(mapi_delete_offline_device(device) == 0);
}

TEST_CASE("mapi_loop calls back as often as requested, and to the end of the trace",
          "[mapi-core][client]")
{
    const TempDir dir;
    static int calls;
    static int looping_fd;
    const mapi_handler count = [](const mapipkt *) { ++calls; };
    const mapi_handler close_in_it = [](const mapipkt *) {
        if (++calls == 5)
            mapi_close_flow(looping_fd);
    };
    const int fd = looping_fd = mapi_create_offline_flow(write_capture(dir).c_str(), MFF_PCAP);
    const int buffer = mapi_apply_function(fd, "TO_BUFFER", WAIT);
    REQUIRE(mapi_connect(fd) == 0);
    calls = 0;
    CHECK(mapi_loop(fd, buffer, 20, count) == 0);
    CHECK(calls == 20);
    CHECK(mapi_loop(fd, buffer, 0, count) == 0);
    CHECK(calls == 300);
    mapi_close_flow(fd);

    SECTION("a handler may close the flow that it is called from")
    {
        looping_fd = mapi_create_offline_flow(write_capture(dir).c_str(), MFF_PCAP);
        const int second = mapi_apply_function(looping_fd, "TO_BUFFER");
        REQUIRE(mapi_connect(looping_fd) == 0);
        calls = 0;
        CHECK(mapi_loop(looping_fd, second, 0, close_in_it) == 0);
        CHECK(calls >= 5);
    }
}

TEST_CASE("a device of mapi.conf is opened by name or alias and read from its first connect",
          "[mapi-core][client]")
{
    const TempDir dir;
    const std::string config = dir / "mapi.conf";
    std::ofstream(config)
        << "[driver]\ndevice=/dev/scampi/7\nalias=seven\ndriver=pcap_file\nrepeat=2\npath="
        << write_capture(dir) << "\n";
    setenv("MAPI_CONF", config.c_str(), 1);
    const int fd = mapi_create_flow(GENERATE("/dev/scampi/7", "seven"));
    REQUIRE(fd > 0);
    const int counter = mapi_apply_function(fd, "PKT_COUNTER");
    CHECK(mapi_connect(fd) == 0);
    CHECK(mapi_wait_flow(fd, -1) == 0);
    CHECK(value(fd, counter) == 600);
    mapi_flow_info_t flow;
    REQUIRE(mapi_get_flow_info(fd, &flow) == 0);
    CHECK(flow.status == FLOW_FINISHED);
    CHECK(flow.num_functions == 1);
    CHECK(flow.end_us >= flow.start_us);
    mapi_device_info_t device;
    REQUIRE(mapi_get_device_info(flow.devid, &device) == 0);
    CHECK(std::string(device.alias) == "seven");
    CHECK(device.link_type == 1);
    mapi_stat stats;
    CHECK(mapi_stats("seven", &stats) == 1);
    CHECK(stats.ps_recv == 600);
    mapi_close_flow(fd);

    CHECK(mapi_create_flow("/dev/none") == -1);
    std::string text;
    CHECK(last_error(&text) == MAPID_NO_DRIVER);
    CHECK_THAT(text, Catch::Contains("/dev/scampi/7"));
    std::ofstream(config) << "[driver]\ndevice=x\nbatch=999\n";
    CHECK(mapi_create_flow("x") == -1);
    CHECK(last_error(&text) == MAPI_CONFIG_ERROR);
    CHECK_THAT(text, Catch::Contains(config + ":3"));
    unsetenv("MAPI_CONF");
}

TEST_CASE("each misuse has its error number", "[mapi-core][client]")
{
    const TempDir dir;
    const std::string path = write_capture(dir);
    const int fd = mapi_create_offline_flow(path.c_str(), MFF_PCAP);
    const auto refused = [&](int result) {
        CHECK(result == -1);
        return last_error();
    };
    CHECK(refused(mapi_apply_function(fd, "NO_SUCH")) == MAPI_FUNCTION_NOT_FOUND);
    CHECK(refused(mapi_apply_function(fd, "BPF_FILTER")) == 7001);
    CHECK(refused(mapi_apply_function(fd, "BPF_FILTER", "")) == 7001);
    CHECK(refused(mapi_apply_function(fd, "BPF_FILTER", "no such keyword")) == 1025);
    CHECK(refused(mapi_apply_function(fd, "BPF_FILTER", "tcp", 3)) == 7002);
    CHECK(refused(mapi_apply_function(fd, "PKT_COUNTER", 1)) == 7001);
    CHECK(refused(mapi_apply_function(fd, "STR_SEARCH", "x", 0)) == 7003);
    CHECK(refused(mapi_apply_function(fd, "STR_SEARCH", "x", -1, 0)) == 7002);
    CHECK(refused(mapi_apply_function(fd, "STR_SEARCH", "x", 0, -1)) == 7003);
    CHECK(refused(mapi_apply_function(fd, "STR_SEARCH", "x", 0, 0, "no-case")) == 7004);
    CHECK(refused(mapi_apply_function(fd, "STR_SEARCH", "x", 0, 0, 1)) == 7004);
    CHECK(refused(mapi_apply_function(fd, "STR_SEARCH", "x", 0, 0, "nocase", 1)) == 7005);
    CHECK(refused(mapi_apply_function(fd, "STR_SEARCH", "|41", 0, 0)) == 3503);
    CHECK(refused(mapi_apply_function(fd, "STR_SEARCH", "abcd", 0, 3)) == 3504);
    CHECK(refused(mapi_apply_function(fd, "SAMPLE", 0, PERIODIC)) == 7001);
    CHECK(refused(mapi_apply_function(fd, "SAMPLE", 101, PROBABILISTIC)) == 7001);
    CHECK(refused(mapi_apply_function(fd, "SAMPLE", 5, 9)) == 7002);
    CHECK(refused(mapi_apply_function(fd, "SAMPLE_PACKETS", "5x", "PROBABILISTIC")) == 7001);
    CHECK(refused(mapi_apply_function(fd, "SAMPLE_PACKETS", "5", "OFTEN")) == 7002);
    CHECK(refused(mapi_apply_function(fd, "TO_BUFFER", 7)) == 7001);
    CHECK(refused(mapi_apply_function(fd, "TO_BUFFER", WAIT, 1)) == 7002);
    const int counter = mapi_apply_function(fd, "PKT_COUNTER");
    const int filter = mapi_apply_function(fd, "BPF_FILTER", "udp");
    CHECK(mapi_read_results(fd, counter) == nullptr);
    CHECK(last_error() == MAPI_FLOW_NOT_CONNECTED);
    CHECK(mapi_connect(fd) == 0);
    CHECK(refused(mapi_connect(fd)) == MDLIB_FLOW_ALREADY_ACTIVE);
    CHECK(refused(mapi_apply_function(fd, "PKT_COUNTER")) == MFUNCT_COULD_NOT_APPLY_FUNCT);
    CHECK(mapi_read_results(fd, 99) == nullptr);
    CHECK(last_error() == MAPI_INVALID_FID_FUNCID);
    CHECK(mapi_read_results(fd, filter) == nullptr);
    CHECK(last_error() == MAPI_SHM_ERR);
    CHECK(mapi_get_next_pkt(fd, counter) == nullptr);
    CHECK(last_error() == MAPI_INVALID_FID_FUNCID);
    CHECK(refused(mapi_connect(12345)) == MAPI_INVALID_FLOW);
    CHECK(refused(mapi_connect(-5)) == MAPI_INVALID_FLOW);
    CHECK(refused(mapi_create_flow(nullptr)) == MAPI_DEVICE_INFO_ERR);
    CHECK(refused(mapi_create_offline_flow("/no/such/file", MFF_PCAP)) == MAPI_ERROR_FILE);
    CHECK(refused(mapi_create_offline_flow(path.c_str(), MFF_COMBO6)) == MAPID_NO_DRIVER);
    CHECK(mapi_read_error(nullptr, nullptr) == -1);
    mapi_close_flow(fd);
}

TEST_CASE("functions of values refuse what they cannot count", "[mapi-core][client]")
{
    const TempDir dir;
    const int fd = mapi_create_offline_flow(write_capture(dir).c_str(), MFF_PCAP);
    const auto refused = [&](int result) {
        CHECK(result == -1);
        return last_error();
    };
    const int size = mapi_apply_function(fd, "PKTINFO", PKT_SIZE);
    CHECK(refused(mapi_apply_function(fd, "HASH", 4)) == 7001);
    CHECK(refused(mapi_apply_function(fd, "HASH", -1)) == 7001);
    CHECK(refused(mapi_apply_function(fd, "DIST", fd, size, "x", "10", "1")) == 7003);
    CHECK(refused(mapi_apply_function(fd, "DIST", fd, size, "10", "10", "1")) == 7004);
    CHECK(refused(mapi_apply_function(fd, "DIST", fd, size, "0", "10", "0")) == 7005);
    CHECK(refused(mapi_apply_function(fd, "DIST", fd, size, "0", "18446744073709551615", "1")) ==
          7005);
    CHECK(refused(mapi_apply_function(fd, "DIST", fd, size, "0", "1s", "10")) ==
          7005); // a number among times
    CHECK(refused(mapi_apply_function(fd, "BURST", -1, 10, 1, 0, 0, 0, 100)) == 7001);
    CHECK(refused(mapi_apply_function(fd, "BURST", 10, 10, 1, 0, 0, 0, 100)) == 7002);
    CHECK(refused(mapi_apply_function(fd, "BURST", 0, 2147483647, 1, 0, 0, 0, 100)) == 7003);
    CHECK(refused(mapi_apply_function(fd, "BURST", 0, 10, 1, 0, 0, 0, 0)) == 7000);
    CHECK(refused(mapi_apply_function(fd, "BUCKET", fd, size, "soon", 0)) == 7003);
    CHECK(refused(mapi_apply_function(fd, "BUCKET", fd, size, "1s", 2)) == 7004);
    CHECK(refused(mapi_apply_function(fd, "THRESHOLD", 3, fd, size, 1ull, THRESHOLD_EQUAL, 0, 0,
                                      0)) == 7001);
    CHECK(refused(mapi_apply_function(fd, "THRESHOLD", THRESHOLD_ULL, fd, size, 1ull, 3, 0, 0,
                                      0)) == 7005);
    CHECK(refused(mapi_apply_function(fd, "THRESHOLD", THRESHOLD_ULL + THRESHOLD_POLL, fd, size,
                                      1ull, THRESHOLD_EQUAL, 0, 0, 0)) == 7011);
    CHECK(refused(mapi_apply_function(fd, "THRESHOLD", THRESHOLD_ULL, fd, size, 1ull,
                                      THRESHOLD_EQUAL, 0, 0, -1)) == 7000);
    CHECK(refused(mapi_apply_function(fd, "HASHSAMP", 1025, 0)) == 7001);
    CHECK(refused(mapi_apply_function(fd, "HASHSAMP", 1, 2)) == 7002);
    const int buckets = mapi_apply_function(fd, "BUCKET", fd, size, "1s", 0);
    CHECK(buckets > 0);
    CHECK(refused(mapi_apply_function(fd, "STATS", fd, buckets, "0")) == 7001); // several results
    mapi_close_flow(fd);
}

TEST_CASE("results can no longer be read once the function is removed or the flow is closed",
          "[mapi-core][client]")
{
    const TempDir dir;
    const int flow = mapi_create_offline_flow(write_capture(dir).c_str(), MFF_PCAP);
    const int counter = mapi_apply_function(flow, "PKT_COUNTER");
    const int buffer = mapi_apply_function(flow, "TO_BUFFER", NOWAIT);
    REQUIRE(mapi_connect(flow) == 0);
    REQUIRE(mapi_wait_flow(flow, -1) == 0);
    for (int i = 0; i < 1000; ++i)
        REQUIRE(value(flow, counter) == 300);
    for (int i = 0; i < 100; ++i)
        REQUIRE(mapi_get_next_pkt(flow, buffer) != nullptr);

    REQUIRE(mapi_remove_function(flow, counter) == 0);
    CHECK(mapi_read_results(flow, counter) == nullptr);
    CHECK(last_error() == MAPI_INVALID_FID_FUNCID);
    REQUIRE(mapi_remove_function(flow, buffer) == 0);
    CHECK(mapi_get_next_pkt(flow, buffer) == nullptr);
    CHECK(last_error() == MAPI_INVALID_FID_FUNCID);
    REQUIRE(mapi_close_flow(flow) == 0);
    CHECK(mapi_get_next_pkt(flow, buffer) == nullptr);
    CHECK(last_error() == MAPI_INVALID_FLOW);
}

TEST_CASE("each flow's counter starts with its own packets, however often it is read",
          "[mapi-core][client]")
{
    const TempDir dir;
    char *device = mapi_create_offline_device(write_capture(dir).c_str(), MFF_PCAP);
    REQUIRE(device);
    REQUIRE(mapi_set_device_option(device, "repeat", "forever") == 0);
    const int first = mapi_create_flow(device), second = mapi_create_flow(device);
    const int of_first = mapi_apply_function(first, "PKT_COUNTER"),
              of_second = mapi_apply_function(second, "PKT_COUNTER");
    REQUIRE(mapi_connect(first) == 0);
    REQUIRE(mapi_start_offline_device(device) == 0);
    while (value(first, of_first) < 100000) {
    }
    REQUIRE(mapi_connect(second) == 0);
    uint64_t last = 0;
    for (int i = 0; i < 100000; ++i) {
        const uint64_t now = value(second, of_second);
        REQUIRE(now >= last);
        last = now;
    }
    CHECK(last < value(first, of_first) - 100000 / 2);
    CHECK(mapi_reset_function(first, of_first) == 0);
    CHECK(mapi_close_flow(first) == 0);
    CHECK(mapi_close_flow(second) == 0);
    CHECK(mapi_delete_offline_device(device) == 0);
}

TEST_CASE("a thread that waits for a function's next result continues when the flow is closed",
          "[mapi-core][client]")
{
    const TempDir dir;
    char *device = mapi_create_offline_device(write_capture(dir).c_str(), MFF_PCAP);
    const int fd = mapi_create_flow(device);
    const int size = mapi_apply_function(fd, "PKTINFO", PKT_SIZE);
    const int buckets = mapi_apply_function(fd, "BUCKET", fd, size, "1s", 0);
    CHECK(mapi_connect(fd) == 0); // and nothing has been read from the device yet
    std::thread reader([&] {
        CHECK(mapi_read_results(fd, buckets) == nullptr);
        CHECK(last_error() == MAPI_NO_MORE_RESULTS);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(mapi_close_flow(fd) == 0);
    reader.join();
    mapi_delete_offline_device(device);
}

TEST_CASE("a flow that writes to a pipe without an active reader can be closed",
          "[mapi-core][client]")
{
    const TempDir dir;
    const std::string fifo = (dir / "fifo").string();
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    char *device = mapi_create_offline_device(write_capture(dir).c_str(), MFF_PCAP);
    CHECK(mapi_set_device_option(device, "repeat", "10") == 0);
    const int fd = mapi_create_flow(device);
    CHECK(mapi_apply_function(fd, "TO_FILE", MFF_PCAP, fifo.c_str(), 0) ==
          -1); // it cannot be opened without a reader
    CHECK(last_error() == MAPI_ERROR_FILE);
    const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const int file = mapi_apply_function(fd, "TO_FILE", MFF_PCAP, fifo.c_str(), 0);
    CHECK(mapi_connect(fd) == 0);
    CHECK(mapi_start_offline_device(device) == 0);
    CHECK(mapi_wait_flow(fd, 300) == -1); // 200 KB do not fit
    CHECK(last_error() == MAPI_TIMED_OUT);
    CHECK(*static_cast<uint32_t *>(mapi_read_results(fd, file)->res) == MAPI_FILE_RUNNING);
    CHECK(mapi_close_flow(fd) == 0);
    mapi_delete_offline_device(device);
    close(reader);
}

TEST_CASE("an error belongs to the thread that caused it", "[mapi-core][client]")
{
    mapi_connect(-1);
    std::thread([] { CHECK(mapi_read_error(nullptr, nullptr) == -1); }).join();
    CHECK(last_error() == MAPI_INVALID_FLOW);
}

TEST_CASE("options of a device are accepted until it is in use", "[mapi-core][client]")
{
    const TempDir dir;
    char *device = mapi_create_offline_device(write_capture(dir).c_str(), MFF_PCAP);
    CHECK(mapi_set_device_option(device, "batch", "1") == 0);
    CHECK(mapi_set_device_option(device, "repeat", "3") == 0);
    CHECK(mapi_set_device_option(device, "batch", "0") == -1);
    CHECK(mapi_set_device_option(device, "speed", "9") == -1);
    const int fd = mapi_create_flow(device);
    const int counter = mapi_apply_function(fd, "PKT_COUNTER");
    mapi_connect(fd);
    CHECK(mapi_set_device_option(device, "batch", "2") == -1);
    CHECK(last_error() == MDLIB_FLOW_ALREADY_ACTIVE);
    mapi_start_offline_device(device);
    CHECK(mapi_wait_flow(fd, -1) == 0);
    CHECK(value(fd, counter) == 900);
    mapi_close_flow(fd);
    mapi_delete_offline_device(device);
}

TEST_CASE("sampling keeps its rate, even if two flows use the same sampling", "[mapi-core][client]")
{
    const TempDir dir;
    char *device = mapi_create_offline_device(write_capture(dir).c_str(), MFF_PCAP);
    REQUIRE(mapi_set_device_option(device, "repeat", "100") == 0);
    int fds[2], periodic[2], random[2];
    for (int i = 0; i < 2; ++i) {
        fds[i] = mapi_create_flow(device);
        mapi_apply_function(fds[i], "SAMPLE", 7, PERIODIC);
        periodic[i] = mapi_apply_function(fds[i], "PKT_COUNTER");
        mapi_apply_function(fds[i], "SAMPLE_PACKETS", "50", "PROBABILISTIC");
        random[i] = mapi_apply_function(fds[i], "PKT_COUNTER");
        mapi_connect(fds[i]);
    }
    mapi_start_offline_device(device);
    for (int i = 0; i < 2; ++i) {
        CHECK(mapi_wait_flow(fds[i], -1) == 0);
        CHECK(value(fds[i], periodic[i]) == 30000 / 7);
        CHECK(double(value(fds[i], random[i])) == Approx(30000 / 14).margin(5 * 33));
    }
    for (const int fd : fds)
        mapi_close_flow(fd);
    mapi_delete_offline_device(device);
}

TEST_CASE("a program that keeps creating and closing flows does not grow", "[mapi-core][client]")
{
    const TempDir dir;
    const std::string path = write_capture(dir);
    const auto used_bytes_after = [&](int flows) {
        for (int i = 0; i < flows; ++i) {
            const int fd = mapi_create_offline_flow(path.c_str(), MFF_PCAP);
            REQUIRE(mapi_apply_function(fd, "PKT_COUNTER") > 0);
            REQUIRE(mapi_apply_function(fd, "BPF_FILTER", "udp") > 0);
            REQUIRE(mapi_close_flow(fd) == 0);
        }
        return mallinfo2().uordblks;
    };
    const size_t before = used_bytes_after(200);
    CHECK(used_bytes_after(1000) < before + 50 * 1000);
}

TEST_CASE("all functions are listed with their arguments, in one library", "[mapi-core][client]")
{
    mapi_lib_info_t library;
    REQUIRE(mapi_get_next_library_info(-1, &library) == 0);
    CHECK(std::string(library.libname) == "mapi");
    CHECK(mapi_get_next_library_info(library.id, &library) == -1);
    std::map<std::string, std::string> functions;
    mapi_libfunct_info_t function;
    for (int number = -1; mapi_get_next_libfunct_info(0, number, &function) == 0; ++number) {
        CHECK(function.descr[0] != 0);
        CHECK(std::string(function.devtype) == MAPI_DEVTYPE_ALL);
        functions[function.name] = function.argdescr;
    }
    CHECK(functions["BPF_FILTER"] == "s");
    CHECK(functions["STATS"] == "rfs");
    mapi_get_library_info(0, &library);
    CHECK(functions.size() == library.functs);
    CHECK(mapi_get_libfunct_info(0, int(library.functs), &function) == -1);
    CHECK(last_error() == MAPI_FUNCTION_NOT_FOUND);
    CHECK(mapi_get_libfunct_info(1, 0, &function) == -1);
}
