// SPDX-License-Identifier: MIT
#include "export/exporter.hpp"

#include <nlohmann/json.hpp>

#include "export/export_support.hpp"
#include "support/catch.hpp"

namespace
{
struct RowSink {
    nsdump::SliceRows &rows;
    std::string &out;
    void slice(const nsdump::Slice &slice) { rows.row(slice, out); }
    void unit(const nsdump::Unit &) {}
    void mark(nsdump::NameId, uint64_t) {}
};

std::string slice_rows(nsdump::RowFormat format)
{
    nsdump::TraceFile trace(test_support::source_of(test_support::varied_trace()));
    const nsdump::Correction correction(trace);
    nsdump::SliceRows rows(format, trace.names(), trace.cpus(), correction,
                           {trace.counter_names(), {}});
    std::string out;
    rows.header(out);
    RowSink sink{rows, out};
    nsdump::Pairer pairer(trace.names(), {1, trace.cpus().size()}, sink);
    nsdump::Merger merger(trace);
    for (nsdump::Run run; merger.next(run);)
        pairer.consume(run);
    return out;
}

std::string event_rows(nsdump::RowFormat format)
{
    nsdump::TraceFile trace(test_support::source_of(test_support::varied_trace()));
    nsdump::EventRows rows(format, trace.names());
    std::string out;
    rows.header(out);
    nsdump::Merger merger(trace);
    for (nsdump::Run run; merger.next(run);)
        for (const nsdump::Event &event : run.events)
            rows.row(event, out);
    return out;
}
} // namespace

TEST_CASE("slices as CSV: raw next to net, empty if there is no value", "[nsdump][rows]")
{
    CHECK(slice_rows(nsdump::RowFormat::csv) ==
          "name,cpu,thread,unit,unit_number,depth,start_ticks,stop_ticks,raw_ticks,net_ticks,class,"
          "raw_INSTRUCTIONS,"
          "net_INSTRUCTIONS\n"
          "\"rx,\"\"1\"\"\",0,1,batch,7,0,1010,1110,100,70.000,ok,105,100.000\n"
          "tx,0,1,,,0,1130,1145,15,-5.000,below-noise,,\n"
          "tx,1,1,,,0,1150,1200,50,30.000,migrated,,\n");
}

TEST_CASE("slices as NDJSON: every line is an object, absent values are absent", "[nsdump][rows]")
{
    std::istringstream lines(slice_rows(nsdump::RowFormat::json));
    std::vector<nlohmann::json> slices;
    for (std::string line; std::getline(lines, line);)
        slices.push_back(nlohmann::json::parse(line));
    REQUIRE(slices.size() == 3);
    CHECK(slices[0]["name"] == "rx,\"1\"");
    CHECK(slices[0]["unit_number"] == 7);
    CHECK(slices[0]["net_ticks"] == 70.0);
    CHECK(slices[0]["net_INSTRUCTIONS"] == 100.0);
    CHECK_FALSE(slices[1].contains("unit"));
    CHECK_FALSE(slices[1].contains("raw_INSTRUCTIONS"));
    CHECK(slices[2]["class"] == "migrated");
}

TEST_CASE("events as CSV and NDJSON have the same contents", "[nsdump][rows]")
{
    const std::string csv = event_rows(nsdump::RowFormat::csv);
    CHECK(csv.rfind("cpu,thread,ticks,kind,name,word0,word1,word2,word3,word4,word5\n"
                    "0,1,1000,INIT,batch,7,64,4096,,,\n"
                    "0,1,1010,START,\"rx,\"\"1\"\"\",100,,,,,\n",
                    0) == 0);
    std::istringstream lines(event_rows(nsdump::RowFormat::json));
    std::string line;
    std::getline(lines, line);
    CHECK(line ==
          R"({"cpu":0,"thread":1,"ticks":1000,"kind":"INIT","name":"batch","words":[7,64,4096]})");
    int count = 1;
    for (; std::getline(lines, line); ++count)
        REQUIRE_NOTHROW(nlohmann::json::parse(line));
    CHECK(count == 10);
}
