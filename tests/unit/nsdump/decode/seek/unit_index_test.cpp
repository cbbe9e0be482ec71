// SPDX-License-Identifier: MIT
#include "decode/seek/unit_index.hpp"

#include <cstring>
#include <optional>
#include <string>

#include "nsdump_support.hpp"
#include "support/catch.hpp"

using nsdump::ChunkSummary;
using nsdump::TraceFile;
using nsdump::UnitIndex;

namespace
{
constexpr uint16_t kUnit = 1, kParse = 2, kSend = 3; // as the builder numbers sites

// Units 10 and 11 in the first chunk, 20 in the second, no unit in the third; CPU 1 has one chunk.
std::string trace_of_units(uint64_t last_unit = 20)
{
    test_support::TraceBuilder trace;
    trace.info(test_support::plain_info());
    REQUIRE(trace.site("batch", NSLICE_KIND_INIT) == kUnit);
    REQUIRE(trace.site("parse") == kParse);
    REQUIRE(trace.site("send") == kSend);
    const auto unit = [&](uint64_t ticks, uint64_t number) {
        trace.init(0, 1, kUnit, ticks, number, 1, 64);
        trace.start(0, 1, kParse, ticks + 1);
        trace.stop(0, 1, kParse, ticks + 2);
        trace.exit(0, 1, kUnit, ticks + 3);
    };
    unit(100, 10);
    unit(110, 11);
    trace.cut(0);
    unit(120, last_unit);
    trace.cut(0);
    trace.start(0, 1, kSend, 130);
    trace.stop(0, 1, kSend, 131);
    trace.start(1, 2, kSend, 130);
    trace.stop(1, 2, kSend, 131);
    trace.footer(NSLICE_END_CLOSED, 200, 200);
    return trace.bytes();
}

UnitIndex index_of(TraceFile &trace)
{
    return UnitIndex::build(trace, [](uint64_t) { return true; }).value();
}

std::optional<UnitIndex> decoded(const std::string &bytes, const TraceFile &trace)
{
    return UnitIndex::decode(std::as_bytes(std::span(bytes)), trace);
}
} // namespace

TEST_CASE("an index has the units that begin in each chunk, and its names", "[nsdump][unit_index]")
{
    TraceFile trace(test_support::source_of(trace_of_units()));
    const UnitIndex index = index_of(trace);
    const auto chunks = index.chunks_of(0);
    REQUIRE(chunks.size() == 3);
    CHECK(chunks[0].may_begin(10));
    CHECK(chunks[0].may_begin(11));
    CHECK_FALSE(chunks[0].may_begin(20));
    CHECK(chunks[1].may_begin(20));
    for (const uint64_t number : {uint64_t{0}, uint64_t{10}, ~uint64_t{0}})
        CHECK_FALSE(chunks[2].may_begin(number));
    CHECK(chunks[0].may_have(ChunkSummary::bit_of(kParse)));
    CHECK_FALSE(chunks[0].may_have(ChunkSummary::bit_of(kSend)));
    CHECK(chunks[2].may_have(ChunkSummary::bit_of(kSend)));
    REQUIRE(index.chunks_of(1).size() == 1);
}

TEST_CASE("neighbouring slice ids have bits of their own", "[nsdump][unit_index]")
{
    uint64_t bits = 0;
    for (uint16_t id = 1; id <= 16; ++id)
        bits |= ChunkSummary::bit_of(id);
    CHECK(std::popcount(bits) >= 14);
}

TEST_CASE("an encoded index is read back for the same trace", "[nsdump][unit_index]")
{
    TraceFile trace(test_support::source_of(trace_of_units()));
    const UnitIndex index = index_of(trace);
    const std::string bytes = index.encode(trace);
    CHECK(bytes.size() == UnitIndex::encoded_bytes(trace));
    CHECK(UnitIndex::is_index(std::as_bytes(std::span(bytes))));
    const auto again = decoded(bytes, trace);
    REQUIRE(again);
    for (const size_t place : {0, 1}) {
        const auto before = index.chunks_of(place), after = again->chunks_of(place);
        REQUIRE(before.size() == after.size());
        CHECK(std::memcmp(before.data(), after.data(), before.size_bytes()) == 0);
    }
}

TEST_CASE("an index with any byte changed, cut anywhere, or too long is refused",
          "[nsdump][unit_index]")
{
    TraceFile trace(test_support::source_of(trace_of_units()));
    const std::string good = index_of(trace).encode(trace);
    for (size_t at = 0; at < good.size(); ++at) {
        for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
            std::string bad = good;
            bad[at] = char(uint8_t(bad[at]) ^ flip);
            INFO("byte " << at << " ^ " << flip);
            CHECK_FALSE(decoded(bad, trace));
        }
        CHECK_FALSE(decoded(good.substr(0, at), trace));
    }
    CHECK_FALSE(decoded(good + '\0', trace));
    CHECK_FALSE(decoded("", trace));
}

TEST_CASE("the index of another trace is refused", "[nsdump][unit_index]")
{
    TraceFile trace(test_support::source_of(trace_of_units()));
    const std::string bytes = index_of(trace).encode(trace);
    std::string longer = trace_of_units();
    longer.resize(longer.size() + 8);
    TraceFile grown(test_support::source_of(longer));
    CHECK_FALSE(decoded(bytes, grown));
    std::string renamed = trace_of_units();
    constexpr size_t kUuidAt = offsetof(nslice_file_header, session_uuid);
    renamed[kUuidAt] = char(renamed[kUuidAt] ^ 1); // damages the header, which is read nevertheless
    TraceFile other(test_support::source_of(renamed));
    CHECK_FALSE(decoded(bytes, other));
}

TEST_CASE("a damaged chunk has no units in the index", "[nsdump][unit_index]")
{
    std::string bytes = trace_of_units();
    // The number of the unit in the second chunk: the only word of this value.
    const uint64_t number = 20;
    std::string word(sizeof number, '\0');
    std::memcpy(word.data(), &number, sizeof number);
    const size_t at = bytes.rfind(word);
    REQUIRE(at != std::string::npos);
    bytes[at] = 21;
    TraceFile trace(test_support::source_of(bytes));
    const UnitIndex index = index_of(trace);
    for (const uint64_t unit : {20, 21})
        for (const ChunkSummary &chunk : index.chunks_of(0))
            CHECK_FALSE(chunk.may_begin(unit));
}

TEST_CASE("building an index can be given up", "[nsdump][unit_index]")
{
    TraceFile trace(test_support::source_of(trace_of_units()));
    CHECK_FALSE(UnitIndex::build(trace, [](uint64_t) { return false; }));
}
