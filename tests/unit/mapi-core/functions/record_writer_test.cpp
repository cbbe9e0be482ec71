// SPDX-License-Identifier: MIT
// Record writer: the file ends with a complete record, and missing records are counted.
#include "functions/output/record_writer.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using mapi::functions::RecordWriter;

namespace
{
constexpr size_t kRecordBytes = 100;

std::string records(size_t count)
{
    return std::string(count * kRecordBytes, 'r');
}

class Pipe
{
public:
    Pipe() { REQUIRE(pipe2(ends_, O_NONBLOCK | O_CLOEXEC) == 0); }
    ~Pipe()
    {
        close_reader();
        close(ends_[1]);
    }
    Pipe(const Pipe &) = delete;
    int writer() const { return ends_[1]; }
    bool read_all(size_t bytes) const
    {
        char buffer[4096];
        while (bytes > 0) {
            const ssize_t count = read(ends_[0], buffer, std::min(bytes, sizeof(buffer)));
            if (count > 0)
                bytes -= size_t(count);
            else if (count == 0 || errno != EAGAIN)
                return false;
        }
        return true;
    }
    void close_reader()
    {
        if (ends_[0] >= 0)
            close(ends_[0]);
        ends_[0] = -1;
    }

private:
    int ends_[2];
};

uint64_t lost(const RecordWriter &writer)
{
    mapi_function_drops drops = {};
    writer.add_drops(&drops);
    return drops.not_written;
}

void finish(RecordWriter &writer, std::string last = {}, uint64_t records = 0)
{
    writer.finish(last, records);
    while (!writer.is_settled())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
} // namespace

TEST_CASE("a file that cannot grow ends with a complete record, and the rest is counted",
          "[mapi-core][functions]")
{
    const test_support::TempDir dir;
    const std::string path = (dir / "file").string();
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small = {2 * kRecordBytes + kRecordBytes / 2 + 8, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    {
        RecordWriter writer(file, true);
        writer.set_header("<header>");
        for (int i = 0; i < 5; ++i) {
            std::string one = records(1);
            writer.add(one, 1);
            std::this_thread::sleep_for(std::chrono::milliseconds(300)); // until it is written
        }
        finish(writer);
        CHECK(lost(writer) == 3);
    }
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(lseek(file, 0, SEEK_END) == off_t(2 * kRecordBytes + 8));
    close(file);
}

TEST_CASE("of records written together, a file keeps as many complete ones as fit",
          "[mapi-core][functions]")
{
    const test_support::TempDir dir;
    const std::string path = (dir / "file").string();
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    for (const size_t room :
         {size_t(0), kRecordBytes - 1, kRecordBytes, 7 * kRecordBytes + 1, 50 * kRecordBytes}) {
        const rlimit small = {room + 8, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
        RecordWriter writer(file, true, nullptr, [](std::string_view) { return kRecordBytes; });
        writer.set_header("<header>");
        finish(writer, records(50), 50);
        CHECK(lost(writer) == 50 - room / kRecordBytes);
        CHECK(lseek(file, 0, SEEK_END) == off_t(8 + room / kRecordBytes * kRecordBytes));
    }
    setrlimit(RLIMIT_FSIZE, &before);
    close(file);
}

TEST_CASE("a reader that closes its end costs records, not the program", "[mapi-core][functions]")
{
    Pipe pipe;
    pipe.close_reader();
    RecordWriter writer(pipe.writer(), true);
    std::string three = records(3);
    writer.add(three, 3);
    CHECK(three.empty());
    finish(writer);
    CHECK(lost(writer) == 3);
}

TEST_CASE("a device that waits for the disk continues when its flow is closed",
          "[mapi-core][functions]")
{
    Pipe pipe; // without a reader: it is full after 64 KiB
    RecordWriter writer(pipe.writer(), true);
    std::thread device([&] {
        for (int i = 0; i < 40; ++i) {
            std::string much = records(10000);
            writer.add(much, 10000);
        }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    writer.cancel();
    device.join();
    CHECK(lost(writer) > 0);
} // and the writer is destroyed, too, without a reader

TEST_CASE("a device that does not wait drops what does not fit, and counts it",
          "[mapi-core][functions]")
{
    Pipe pipe;
    RecordWriter writer(pipe.writer(), false);
    for (int i = 0; i < 40; ++i) {
        std::string much = records(10000);
        writer.add(much, 10000);
    }
    CHECK(lost(writer) >=
          50000u); // of 400,000: waiting data and data being written have 16 MiB each
    pipe.close_reader();
}

TEST_CASE("a file is settled when all of it is written, and a waiting thread is notified once",
          "[mapi-core][functions]")
{
    Pipe pipe;
    std::atomic<int> reported = 0;
    RecordWriter writer(pipe.writer(), true, [&] { ++reported; });
    std::string much = records(10000);
    writer.set_header("<header>");
    writer.add(much, 10000);
    std::string last = records(1);
    writer.finish(last, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    CHECK_FALSE(writer.is_settled()); // the pipe is full
    CHECK(reported == 0);
    CHECK(pipe.read_all(8 + 10001 * kRecordBytes));
    while (!writer.is_settled())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(reported == 1);
    CHECK(lost(writer) == 0);
}

TEST_CASE("the last record always fits, however much is waiting, and does not block",
          "[mapi-core][functions]")
{
    Pipe pipe;
    RecordWriter writer(pipe.writer(), true);
    std::string much = records(160000); // 16 MB
    writer.add(much, 160000);
    std::this_thread::sleep_for(std::chrono::milliseconds(150)); // it is being written
    much = records(160000);
    writer.add(much, 160000);
    std::string last = records(20000);
    writer.finish(last, 20000); // returns
    pipe.close_reader();
    while (!writer.is_settled())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(lost(writer) == 340000);
}
