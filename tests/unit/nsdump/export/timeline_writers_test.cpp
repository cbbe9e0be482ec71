// SPDX-License-Identifier: MIT
#include "export/timeline/writers.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "export/timeline/trace_packet.pb.h"
#include "support/catch.hpp"

namespace
{
using nsdump::TimelineEvent;
using nsdump::Track;
using Packets = std::vector<nsdump::perfetto::TracePacket>;

// A file is a message whose field 1 is a packet; here all are shorter than 128 bytes, or have a
// length of two bytes.
Packets packets_of(const std::string &bytes)
{
    Packets packets;
    for (size_t at = 0; at < bytes.size();) {
        REQUIRE(bytes[at++] == 0x0a);
        size_t length = uint8_t(bytes.at(at++));
        if (length >= 0x80)
            length = (length & 0x7f) | size_t(uint8_t(bytes.at(at++))) << 7;
        packets.emplace_back();
        REQUIRE(packets.back().ParseFromString(bytes.substr(at, length)));
        at += length;
    }
    return packets;
}

Track a_thread()
{
    Track track;
    track.kind = Track::Kind::thread;
    track.id = 77;
    track.parent_id = 7;
    track.pid = 12;
    track.tid = 34;
    track.name = "thread 34";
    return track;
}

TimelineEvent a_slice(std::span<const nsdump::Argument> arguments)
{
    TimelineEvent slice;
    slice.name = "parse";
    slice.category = "program";
    slice.start_ns = 1'234'567;
    slice.flow_id = 99;
    slice.arguments = arguments;
    return slice;
}

const std::vector<nsdump::Argument> kArguments = {{"raw_ticks", int64_t{-5}},
                                                  {"unit_number", uint64_t{1} << 63},
                                                  {"net_ns", 0.5},
                                                  {"class", std::string_view("o\xff")}};
} // namespace

TEST_CASE("a name is in Perfetto's packets once, and a number after that", "[nsdump][timeline]")
{
    const auto writer = nsdump::perfetto_writer();
    std::string out;
    for (int i = 0; i < 2; ++i)
        writer->begin(a_thread(), a_slice(kArguments), out);
    const Packets packets = packets_of(out);
    REQUIRE(packets.size() == 2);
    const auto &texts = packets[0].interned_data();
    REQUIRE(texts.event_names_size() == 1);
    CHECK(texts.event_names(0).text() == "parse");
    CHECK(texts.debug_annotation_names_size() == 4);
    CHECK(texts.debug_annotation_string_values(0).text() == "o\xef\xbf\xbd");
    CHECK_FALSE(packets[1].has_interned_data());
    for (const auto &packet : packets) {
        const auto &event = packet.track_event();
        CHECK(event.name_iid() == texts.event_names(0).iid());
        CHECK(packet.timestamp() == 1'234'567);
        CHECK(event.track_uuid() == 77);
        CHECK(event.flow_ids(0) == 99);
        CHECK(event.debug_annotations(0).int_value() == -5);
        CHECK(event.debug_annotations(1).uint_value() == uint64_t{1} << 63);
        CHECK(event.debug_annotations(2).double_value() == 0.5);
    }
}

TEST_CASE("Perfetto's packets begin with the clock and the state that later ones need",
          "[nsdump][timeline]")
{
    const auto writer = nsdump::perfetto_writer();
    std::string out;
    writer->head(5000, out);
    writer->end(a_thread(), 6000, out);
    const Packets packets = packets_of(out);
    REQUIRE(packets.size() == 3);
    CHECK(packets[0].clock_snapshot().primary_trace_clock() == 3);
    CHECK(packets[0].clock_snapshot().clocks(0).timestamp() == 5000);
    CHECK(packets[1].sequence_flags() == 1);
    CHECK(packets[1].trace_packet_defaults().timestamp_clock_id() == 3);
    CHECK(packets[2].sequence_flags() == 2);
    CHECK(packets[2].track_event().type() == nsdump::perfetto::TrackEvent::TYPE_SLICE_END);
    for (const auto &packet : packets)
        CHECK(packet.trusted_packet_sequence_id() == packets[0].trusted_packet_sequence_id());
}

TEST_CASE("a thread's track has its numbers and its process as parent", "[nsdump][timeline]")
{
    std::string out;
    nsdump::perfetto_writer()->track(a_thread(), out);
    const auto descriptor = packets_of(out).at(0).track_descriptor();
    CHECK(descriptor.parent_uuid() == 7);
    CHECK(descriptor.thread().pid() == 12);
    CHECK(descriptor.thread().tid() == 34);
    CHECK_FALSE(descriptor.has_name());
}

TEST_CASE("a counter beyond a signed number is written as a real one", "[nsdump][timeline]")
{
    const auto writer = nsdump::perfetto_writer();
    std::string out;
    writer->counter(a_thread(), 1, uint64_t{1} << 62, out);
    writer->counter(a_thread(), 2, uint64_t{1} << 63, out);
    const Packets packets = packets_of(out);
    CHECK(packets.at(0).track_event().counter_value() == int64_t{1} << 62);
    CHECK_FALSE(packets.at(1).track_event().has_counter_value());
    CHECK(packets.at(1).track_event().double_counter_value() == 0x1p63);
}

TEST_CASE("Chrome's JSON has microseconds with all digits, and null for what JSON lacks",
          "[nsdump][timeline]")
{
    const std::vector<nsdump::Argument> arguments = {{"net_ns", HUGE_VAL}};
    const auto writer = nsdump::chrome_writer();
    std::string out;
    writer->head(0, out);
    writer->track(a_thread(), out);
    writer->begin(a_thread(), a_slice(arguments), out);
    writer->end(a_thread(), 1'234'890, out);
    writer->tail(out);
    CHECK(out.find(R"("ts":1234.567,)") != out.npos);
    CHECK(out.find(R"("ts":1234.890})") != out.npos);
    const auto events = nlohmann::json::parse(out)["traceEvents"];
    REQUIRE(events.size() == 3);
    CHECK(events[2]["ph"] == "E");
    CHECK(events[0]["args"]["name"] == "thread 34");
    CHECK(events[1]["args"]["net_ns"].is_null());
    CHECK(events[1]["bind_id"] == "0x63");
}

TEST_CASE("Chrome's JSON without any event is valid", "[nsdump][timeline]")
{
    const auto writer = nsdump::chrome_writer();
    std::string out;
    writer->head(0, out);
    writer->tail(out);
    CHECK(nlohmann::json::parse(out)["traceEvents"].empty());
}
