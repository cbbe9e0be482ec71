// SPDX-License-Identifier: MIT
// Golden traces of every version -> the same events and slices as when they were recorded.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "analyse/pair/user_and_kernel.hpp"
#include "decode/merge.hpp"
#include "export/exporter.hpp"
#include "support/catch.hpp"

namespace
{
std::string content(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> golden_traces()
{
    std::vector<std::filesystem::path> paths;
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(TEST_SOURCE_DIR "/tests/format/golden"))
        if (entry.path().extension() == ".nsl")
            paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

struct RowSink {
    nsdump::SliceRows &rows;
    std::string &out;
    void slice(const nsdump::Slice &slice) { rows.row(slice, out); }
    void unit(const nsdump::Unit &) {}
    void mark(nsdump::NameId, uint64_t) {}
};
} // namespace

TEST_CASE("golden traces decode to the events and slices stored next to them", "[format][golden]")
{
    const auto paths = golden_traces();
    REQUIRE(paths.size() >= 2);
    for (const auto &path : paths) {
        INFO(path);
        nsdump::TraceFile trace(path.string());
        nsdump::EventRows event_rows(nsdump::RowFormat::json, trace.names());
        const nsdump::Correction correction(trace);
        nsdump::SliceRows slice_rows(nsdump::RowFormat::json, trace.names(), trace.cpus(),
                                     correction,
                                     {trace.counter_names(), trace.kernel_counter_names()});
        std::string events, slices;
        RowSink sink{slice_rows, slices};
        nsdump::UserAndKernelPairs sides(trace, sink, sink);
        nsdump::Merger merger(trace);
        for (nsdump::Run run; merger.next(run);) {
            for (const nsdump::Event &event : run.events)
                event_rows.row(event, events);
            sides.consume(run);
        }
        auto beside = path;
        CHECK(events == content(beside.replace_extension(".events.json")));
        beside = path;
        CHECK(slices == content(beside.replace_extension(".slices.json")));
        CHECK_FALSE(events.empty());
        CHECK(trace.damage().chunks() == 0);
    }
}
