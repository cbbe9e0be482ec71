// SPDX-License-Identifier: MIT
#include "arrow/netslice_arrow.h"

#include <filesystem>
#include <string>

#include <unistd.h>

#include "export/export_support.hpp"
#include "support/catch.hpp"

namespace
{
class TraceOnDisk
{
public:
    TraceOnDisk()
        : path_((std::filesystem::temp_directory_path() /
                 ("netslice-arrow-" + std::to_string(getpid()) + ".nsl"))
                    .string())
    {
        const std::string bytes = test_support::varied_trace();
        FILE *const file = std::fopen(path_.c_str(), "wb");
        REQUIRE(file);
        REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
        REQUIRE(std::fclose(file) == 0);
    }
    ~TraceOnDisk() { std::filesystem::remove(path_); }
    TraceOnDisk(const TraceOnDisk &) = delete;
    TraceOnDisk &operator=(const TraceOnDisk &) = delete;
    const char *path() const { return path_.c_str(); }

private:
    std::string path_;
};

constexpr nsl_options kAll = {sizeof(nsl_options),
                              1u << NSL_SLICES | 1u << NSL_UNITS | 1u << NSL_LOSSES,
                              nullptr,
                              nullptr,
                              nullptr,
                              UINT64_MAX,
                              nullptr,
                              nullptr};
} // namespace

TEST_CASE("one pass gives the batches of all its tables, then the end", "[nsdump][arrow]")
{
    const TraceOnDisk trace;
    char error[256] = "";
    nsl_pass *const pass = nsl_pass_open(trace.path(), &kAll, error, sizeof(error));
    REQUIRE(pass);
    int64_t rows[NSL_TABLES] = {};
    ArrowArray array{};
    for (int got = nsl_pass_next(pass, &array); got != NSL_END; got = nsl_pass_next(pass, &array)) {
        REQUIRE(got != NSL_FAILED);
        if (got == NSL_NOTHING_YET)
            continue;
        rows[got] += array.length;
        array.release(&array);
    }
    CHECK(rows[NSL_SLICES] == 3);
    CHECK(rows[NSL_UNITS] == 1);
    CHECK(rows[NSL_LOSSES] == 1);
    CHECK(std::string(nsl_pass_findings(pass)).find("2 of ") != std::string::npos);
    ArrowSchema schema{};
    CHECK(nsl_pass_schema(pass, NSL_EVENTS, &schema) != 0); // not one of its tables
    CHECK(std::string(nsl_pass_error(pass)).find("table") != std::string::npos);
    nsl_pass_close(pass);
}

TEST_CASE("a stream ends with a released array, and can be released before", "[nsdump][arrow]")
{
    const TraceOnDisk trace;
    char error[256] = "";
    for (const bool reads_all : {true, false}) {
        ArrowArrayStream stream{};
        REQUIRE(nsl_stream(trace.path(), &kAll, NSL_SLICES, &stream, error, sizeof(error)) == 0);
        ArrowSchema schema{};
        REQUIRE(stream.get_schema(&stream, &schema) == 0);
        CHECK(std::string(schema.children[0]->name) == "name");
        schema.release(&schema);
        int64_t rows = 0;
        ArrowArray array{};
        REQUIRE(stream.get_next(&stream, &array) == 0);
        while (array.release) {
            rows += array.length;
            array.release(&array);
            if (!reads_all)
                break;
            REQUIRE(stream.get_next(&stream, &array) == 0);
        }
        CHECK(rows == 3);
        stream.release(&stream);
        CHECK(stream.release == nullptr);
    }
}

TEST_CASE("a range of time is an option of a pass", "[nsdump][arrow]")
{
    const TraceOnDisk trace;
    char error[256] = "";
    const int64_t from_ns = 211, to_ns = 245;
    nsl_options part = kAll;
    part.from_ns = &from_ns;
    part.to_ns = &to_ns;
    ArrowArrayStream stream{};
    REQUIRE(nsl_stream(trace.path(), &part, NSL_SLICES, &stream, error, sizeof(error)) == 0);
    ArrowArray array{};
    REQUIRE(stream.get_next(&stream, &array) == 0);
    CHECK(array.length == 1);
    array.release(&array);
    stream.release(&stream);
    part.from_ns = &to_ns;
    part.to_ns = &from_ns;
    CHECK(nsl_pass_open(trace.path(), &part, error, sizeof(error)) == nullptr);
    CHECK(std::string(error) == "from_ns is after to_ns");
}

TEST_CASE("why a trace cannot be opened is a text, cut to its room", "[nsdump][arrow]")
{
    char error[256] = "";
    CHECK(nsl_pass_open("/nonexistent/trace.nsl", &kAll, error, sizeof(error)) == nullptr);
    CHECK(std::string(error).find("/nonexistent/trace.nsl") != std::string::npos);
    char small[8] = "";
    ArrowArrayStream stream{};
    CHECK(nsl_stream("/nonexistent/trace.nsl", &kAll, NSL_UNITS, &stream, small, sizeof(small)) ==
          -1);
    CHECK(std::string(small) == "/nonexi");
    nsl_options other = kAll;
    other.calibration = "/nonexistent/calibration.json";
    const TraceOnDisk trace;
    CHECK(nsl_pass_open(trace.path(), &other, error, sizeof(error)) == nullptr);
    CHECK(std::string(error).find("calibration.json") != std::string::npos);
}

TEST_CASE("arguments of another version of the interface are refused", "[nsdump][arrow]")
{
    const TraceOnDisk trace;
    char error[256] = "";
    ArrowArrayStream stream{};
    nsl_options other = kAll;
    other.struct_size -= 1;
    CHECK(nsl_pass_open(trace.path(), &other, error, sizeof(error)) == nullptr);
    CHECK(std::string(error).find("struct_size") != std::string::npos);
    error[0] = '\0';
    CHECK(nsl_stream(trace.path(), &other, NSL_UNITS, &stream, error, sizeof(error)) == -1);
    CHECK(std::string(error).find("struct_size") != std::string::npos);
    other = kAll;
    other.tables |= 1u << NSL_TABLES;
    CHECK(nsl_pass_open(trace.path(), &other, error, sizeof(error)) == nullptr);
    CHECK(std::string(error).find("unknown table") != std::string::npos);
    error[0] = '\0';
    CHECK(nsl_stream(trace.path(), &kAll, NSL_TABLES, &stream, error, sizeof(error)) == -1);
    CHECK(std::string(error).find("unknown table") != std::string::npos);
}
