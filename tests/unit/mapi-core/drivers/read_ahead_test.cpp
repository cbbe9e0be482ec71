// SPDX-License-Identifier: MIT
// Read-ahead: large captures give what reading them in place gives, down to the last packet, offset
// and message.
#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <system_error>
#include <thread>

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drivers/bytes/read_ahead.hpp"
#include "drivers/catalog.hpp"
#include "mapi-core/capture_builder.hpp"
#include "mapi-core/drivers/erf_builder.hpp"
#include "mapi-core/drivers/large_captures.hpp"
#include "mapi-core/drivers/read_capture.hpp"
#include "support/requires.hpp"
#include "support/temp_dir.hpp"

using test_support::add_packets;
using test_support::CaptureBuilder;
using test_support::check_same;
using test_support::Erf;
using test_support::has_two_processors;
using test_support::kLargeBytes;
using test_support::large_pcap;
using test_support::OpenCapture;
using test_support::Outcome;
using test_support::read_capture;
using test_support::read_in_place;
using test_support::TempDir;

namespace
{
size_t count_threads()
{
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return size_t(std::distance(begin(tasks), end(tasks)));
}

// A thread that was joined may remain visible for a moment.
size_t count_threads_at_rest()
{
    size_t seen = count_threads(), before;
    do {
        before = seen;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        seen = count_threads();
    } while (seen != before);
    return seen;
}

std::chrono::nanoseconds cpu_time(clockid_t clock)
{
    timespec time = {};
    clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Reading from it takes almost no time.
struct InstantSource : mapi::drivers::ByteSource {
    size_t read(uint8_t *, size_t room) override { return room; }
    bool rewind() override { return false; }
    void interrupt() override {}
    bool has_offsets() const override { return true; }
    size_t read_at(uint64_t, uint8_t *, size_t room) override { return room; }
    bool is_open_ended() const override { return true; }
    uint64_t rest_bytes() const override { return uint64_t(1) << 40; }
};

int64_t sleeps_of_process()
{
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

void work_for(std::chrono::microseconds time)
{
    for (const auto end = std::chrono::steady_clock::now() + time;
         std::chrono::steady_clock::now() < end;) {
    }
}

std::string large_pcapng()
{
    CaptureBuilder capture;
    std::mt19937 random(2);
    capture.section().interface(1);
    add_packets(random, kLargeBytes, [&](const std::string &data) {
        capture.enhanced(0, 1, data, uint32_t(data.size()));
    });
    return capture.bytes();
}

std::string large_erf()
{
    std::string bytes;
    std::mt19937 random(3);
    for (size_t i = 0; i < 20000; ++i)
        bytes += Erf{.frame = std::string(random() % 1500, char(random()))}.bytes();
    return bytes;
}

// Empty if this machine has no such program.
std::string pack(const TempDir &dir, const std::string &tool, const std::string &bytes)
{
    const std::string from = CaptureBuilder().text(bytes).write(dir / "to_pack"),
                      to = dir / "packed";
    if (std::system((tool + " -1 -c < " + from + " > " + to + " 2> /dev/null").c_str()) != 0)
        return {};
    std::ostringstream all;
    all << std::ifstream(to, std::ios::binary).rdbuf();
    return all.str();
}

// Random bytes cannot be compressed: packed, the file is as large.
std::string large_noisy_pcap()
{
    CaptureBuilder capture;
    capture.pcap_header();
    std::mt19937 random(4);
    for (size_t i = 0; i < 2700; ++i) {
        std::string data(random() % 1500, '\0');
        std::generate(data.begin(), data.end(), [&] { return char(random()); });
        capture.pcap_record(data, 1500);
    }
    return capture.bytes();
}

} // namespace

TEST_CASE("a second thread reads large captures ahead, and ends if the capture is closed halfway",
          "[mapi-core][drivers][read_ahead]")
{
    if (!has_two_processors())
        return test_support::skip("only one CPU: no read-ahead");
    const TempDir dir;
    const std::string path = CaptureBuilder().text(large_pcap()).write(dir / "large.pcap");
    std::thread([] {}).join(); // a sanitizer starts its own thread with the first one
    const size_t before = count_threads_at_rest();
    {
        OpenCapture capture(path);
        CHECK(count_threads() == before); // the first buffer is read in place
        for (int i = 0; i < 60; ++i)
            REQUIRE(capture.read() > 0);
        CHECK(count_threads() == before + 1);
    }
    CHECK(count_threads_at_rest() == before);
}

TEST_CASE("a thread that reads ahead of a slow reader sleeps, and is not woken for each piece",
          "[mapi-core][drivers][read_ahead]")
{
    if (!has_two_processors())
        return test_support::skip("only one CPU: no read-ahead");
    constexpr size_t kPieces = 4 * kLargeBytes / (size_t(128) << 10);
    const TempDir dir;
    const std::string capture = large_pcap(), packets = capture.substr(24);
    const std::string path =
        CaptureBuilder().text(capture + packets + packets + packets).write(dir / "large.pcap");
    OpenCapture reader(path);
    const int64_t before = sleeps_of_process();
    while (reader.read() > 0)
        work_for(std::chrono::microseconds(100));
    CHECK(sleeps_of_process() - before < int64_t(kPieces / 4));
}

TEST_CASE("a fast read-ahead thread does not spin between the pieces of a slower reader",
          "[mapi-core][drivers][read_ahead]")
{
    if (!has_two_processors())
        return test_support::skip("only one CPU: no read-ahead");
    InstantSource source;
    const auto ahead = mapi::drivers::ReadAhead::start(source, 0);
    REQUIRE(ahead);
    const auto all_before = cpu_time(CLOCK_PROCESS_CPUTIME_ID),
               own_before = cpu_time(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < 10000; ++i) {
        REQUIRE(ahead->take().bytes > 0);
        ahead->release_before();
        work_for(std::chrono::microseconds(20));
    }
    const auto own = cpu_time(CLOCK_THREAD_CPUTIME_ID) - own_before;
    const auto other = cpu_time(CLOCK_PROCESS_CPUTIME_ID) - all_before - own;
    INFO("thread " << other.count() << " ns, its reader " << own.count() << " ns");
    CHECK(other * 5 < own);
}

TEST_CASE("a small capture and a pipe are read without another thread",
          "[mapi-core][drivers][read_ahead]")
{
    const TempDir dir;
    const std::string bytes = large_pcap();
    const std::string path = dir / "capture.pcap";
    const size_t before = count_threads_at_rest();
    std::thread writer;
    SECTION("small")
    {
        CaptureBuilder().text(bytes.substr(0, 6 << 20)).write(path);
    }
    SECTION("pipe")
    {
        REQUIRE(mkfifo(path.c_str(), 0600) == 0);
        writer = std::thread([&] { CaptureBuilder().text(bytes).write(path); });
    }
    const size_t others = writer.joinable();
    {
        OpenCapture capture(path);
        for (int i = 0; i < 60; ++i)
            REQUIRE(capture.read() > 0);
        CHECK(count_threads() <= before + others);
        while (capture.read() > 0) { // the writer continues until everything is read
        }
    }
    if (others)
        writer.join();
}

TEST_CASE("captures read ahead give the same as in place", "[mapi-core][drivers][read_ahead]")
{
    const uint64_t repeat = GENERATE(1u, 2u);
    const TempDir dir;
    const mapi_driver *driver = &mapi_driver_pcap_file;
    std::string bytes;
    SECTION("pcap")
    {
        bytes = large_pcap();
    }
    SECTION("pcapng")
    {
        bytes = large_pcapng();
    }
    SECTION("ERF")
    {
        bytes = large_erf();
        driver = &mapi_driver_erf_file;
    }
    const std::string path = CaptureBuilder().text(bytes).write(dir / "large");
    const Outcome outcome = read_capture(*driver, path, 64, repeat);
    CHECK(outcome.last == 0);
    CHECK(outcome.packets.size() > 10000 * repeat);
    check_same(outcome, read_in_place(*driver, path, repeat));
}

TEST_CASE("damage and truncation are reported at the same packet and offset as in place",
          "[mapi-core][drivers][read_ahead]")
{
    std::mt19937 random(GENERATE(range(1u, 9u)));
    const TempDir dir;
    std::string bytes = random() % 2 ? large_pcap(random()) : large_pcapng();
    const size_t first =
        random() % 2 ? size_t(1) << 20
                     : bytes.size() / 2; // before the thread starts, or possibly while it runs
    const size_t place = first + random() % (bytes.size() - first);
    if (random() % 2)
        bytes.resize(place);
    else
        bytes.replace(place, 4096, std::string(4096, '\xee'));
    const std::string path = CaptureBuilder().text(bytes).write(dir / "large");
    INFO("at " << place << " of " << bytes.size());
    check_same(read_capture(mapi_driver_pcap_file, path),
               read_in_place(mapi_driver_pcap_file, path));
}

TEST_CASE("compressed captures read ahead give the same as in place, also truncated or damaged",
          "[mapi-core][drivers][read_ahead]")
{
    const std::string tool = GENERATE("gzip", "xz", "zstd", "bzip2");
    const TempDir dir;
    static std::map<std::string, std::string> packed_by;
    if (!packed_by.contains(tool))
        packed_by[tool] = pack(dir, tool, large_noisy_pcap());
    std::string packed = packed_by[tool];
    if (packed.empty())
        return test_support::skip(tool + ": not installed");
    SECTION("complete") {}
    SECTION("truncated in the trailer")
    {
        packed.pop_back();
    }
    SECTION("truncated in the middle")
    {
        packed.resize(packed.size() - 700001);
    }
    SECTION("damaged")
    {
        packed.replace(packed.size() - 700001, 64, std::string(64, '\xee'));
    }
    SECTION("damaged near the end")
    {
        packed.replace(packed.size() - 90001, 64, std::string(64, '\xee'));
    }
    SECTION("followed by other bytes")
    {
        packed += "not packed at all";
    }
    const std::string path = CaptureBuilder().text(packed).write(dir / "x.packed");
    const Outcome outcome = read_capture(mapi_driver_pcap_file, path);
    CHECK(outcome.packets.size() > 1000);
    check_same(outcome, read_in_place(mapi_driver_pcap_file, path), true);
}

TEST_CASE("a capture that grows or shrinks during the read ends where it ends",
          "[mapi-core][drivers][read_ahead]")
{
    const bool grows = GENERATE(false, true);
    const TempDir dir;
    const std::string bytes = large_pcap();
    const std::string path = CaptureBuilder().text(bytes).write(dir / "large.pcap");
    const size_t all = read_capture(mapi_driver_pcap_file, path).packets.size();
    OpenCapture capture(path);
    size_t packets = 0;
    while (packets < all / 10 * 6)
        packets += size_t(capture.read());
    if (grows)
        std::ofstream(path, std::ios::binary | std::ios::app)
            .write(bytes.data() + 24, std::streamsize(bytes.size() - 24));
    else
        std::filesystem::resize_file(path, bytes.size() / 10 * 8);
    int last;
    while ((last = capture.read()) > 0)
        packets += size_t(last);
    const size_t whole = read_capture(mapi_driver_pcap_file, path).packets.size();
    CHECK(packets >= whole); // of a shrinking capture, slightly more may have been read
    CHECK(packets <= whole + (grows ? 0 : 5000));
    CHECK(last == (grows ? 0 : -1));
}

TEST_CASE("an interrupted read of a large capture ends", "[mapi-core][drivers][read_ahead]")
{
    const TempDir dir;
    const std::string path = CaptureBuilder().text(large_pcap()).write(dir / "large.pcap");
    const size_t all = read_capture(mapi_driver_pcap_file, path).packets.size();
    OpenCapture capture(path);
    for (size_t packets = 0; packets < all / 10 * 6;)
        packets += size_t(capture.read());
    mapi_driver_pcap_file.interrupt(capture.file);
    int last = 1;
    for (int i = 0; i < 1000 && last > 0; ++i)
        last = capture.read();
    CHECK(last == -1);
    mapi_driver_stats stats = {};
    mapi_driver_pcap_file.stats(capture.file, &stats);
    CHECK_THAT(std::string(stats.message), Catch::Contains("interrupted after offset"));
}

TEST_CASE("if no thread can be created, a large capture is read without one",
          "[mapi-core][drivers][read_ahead]")
{
    const TempDir dir;
    const std::string path = CaptureBuilder().text(large_pcap()).write(dir / "large.pcap");
    std::filesystem::permissions(dir.path(), std::filesystem::perms(0755));
    const size_t wanted = read_capture(mapi_driver_pcap_file, path).packets.size();
    const pid_t child = fork();
    if (child == 0) { // root has no limit
        const rlimit none = {0, 0};
        if (setrlimit(RLIMIT_NPROC, &none) != 0 ||
            (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0))
            _exit(2);
        try {
            std::thread([] {}).join();
            _exit(3);
        } catch (const std::system_error &) {
        }
        _exit(read_capture(mapi_driver_pcap_file, path).packets.size() == wanted ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}
