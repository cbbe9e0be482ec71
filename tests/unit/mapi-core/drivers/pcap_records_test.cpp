// SPDX-License-Identifier: MIT
// Records of classic pcap: a piece that ends anywhere -> an index of its complete packets, and how
// many bytes of the last one follow in the next.
#include "support/catch.hpp"

#include <memory>
#include <string>
#include <vector>

#include "drivers/formats/pcap_records.hpp"
#include "mapi-core/capture_builder.hpp"

using mapi::drivers::PcapPieces;
using mapi::drivers::PcapSettings;
using mapi::drivers::PieceFormat;
using mapi::drivers::PieceIndex;
using test_support::CaptureBuilder;

namespace
{
constexpr uint32_t kSnaplen = 100;
constexpr size_t kBytesBeforeWireLength = 12;

PcapSettings settings(uint32_t header_bytes)
{
    PcapSettings s = {};
    s.variant = {0xa1b2c3d4, header_bytes, 1000};
    s.max_caplen = 262144;
    s.snaplen = kSnaplen;
    s.link_type = 1;
    return s;
}

struct Records {
    std::string bytes;
    std::vector<size_t> ends = {0};
};

Records make_records(bool is_swapped, uint32_t header_bytes, uint32_t count)
{
    Records records;
    for (uint32_t i = 0; i < count; ++i) {
        CaptureBuilder one(is_swapped);
        const std::string data(i * 7 % (kSnaplen + 1), char(i));
        one.u32(i)
            .u32(1)
            .u32(uint32_t(data.size()))
            .u32(uint32_t(data.size()) + i)
            .text(std::string(header_bytes - 16, 0))
            .text(data);
        records.bytes += one.bytes();
        records.ends.push_back(records.bytes.size());
    }
    return records;
}

std::unique_ptr<PieceFormat> make_format(bool is_swapped, uint32_t header_bytes)
{
    if (is_swapped)
        return std::make_unique<PcapPieces<true>>(settings(header_bytes));
    return std::make_unique<PcapPieces<false>>(settings(header_bytes));
}

struct Found {
    uint64_t packets = 0, wire_bytes = 0;
    size_t end = 0, missing = 0;
};

Found find(const PieceFormat &format, const std::string &bytes)
{
    const auto index = std::make_unique<PieceIndex>();
    const auto *const begin = reinterpret_cast<const uint8_t *>(bytes.data());
    index->clear(begin);
    format.index(begin, begin + bytes.size(), *index);
    Found found;
    for (uint32_t i = 0; i < index->count(); ++i) {
        found.packets += index->batch(i).count;
        found.wire_bytes += index->batch(i).wire_bytes;
        REQUIRE(index->batch(i).packets[0].data > index->record_of(i));
    }
    found.end = size_t(index->end() - begin);
    found.missing = format.missing_bytes(index->end(), begin + bytes.size());
    return found;
}
} // namespace

TEST_CASE("an index has the complete packets of a piece and the start of the next piece's packets",
          "[mapi-core][drivers]")
{
    const bool is_swapped = GENERATE(false, true);
    const uint32_t header_bytes = GENERATE(16u, 24u);
    const Records records = make_records(is_swapped, header_bytes, 150);
    const auto format = make_format(is_swapped, header_bytes);
    size_t whole = 0;
    for (size_t cut = 0; cut < records.bytes.size(); ++cut) {
        while (records.ends[whole + 1] <= cut)
            ++whole;
        const Found found = find(*format, records.bytes.substr(0, cut));
        const size_t left = cut - records.ends[whole];
        const bool is_known = left == 0 || left >= kBytesBeforeWireLength;
        INFO("cut at " << cut);
        REQUIRE(found.packets == whole);
        REQUIRE(found.end == records.ends[whole]);
        REQUIRE(found.missing == (left == 0  ? 0
                                  : is_known ? records.ends[whole + 1] - cut
                                             : PieceFormat::kUnknown));
    }
}

TEST_CASE("an index ends before a record with implausible lengths, after which nothing is known",
          "[mapi-core][drivers]")
{
    const Records records = make_records(false, 16, 100);
    std::string bytes = records.bytes;
    const auto set_lengths = [&](uint32_t caplen, uint32_t wire_len) {
        bytes.replace(records.ends[70] + 8, 8, CaptureBuilder().u32(caplen).u32(wire_len).bytes());
    };
    SECTION("longer than the wire")
    {
        set_lengths(50, 40);
    }
    SECTION("longer than the snap length")
    {
        set_lengths(kSnaplen + 1, 1500);
    }
    SECTION("of no record at all")
    {
        set_lengths(~0u, ~0u);
    }
    const Found found = find(*make_format(false, 16), bytes);
    CHECK(found.packets == 70);
    CHECK(found.end == records.ends[70]);
    CHECK(found.missing == PieceFormat::kUnknown);
}

TEST_CASE("packets beyond an index are left to its reader, the next piece's start is still known",
          "[mapi-core][drivers]")
{
    constexpr uint32_t kMost = PieceIndex::kBatchesMax * MAPI_BATCH_MAX;
    const Records records = make_records(false, 16, kMost + 10);
    const Found found =
        find(*make_format(false, 16), records.bytes.substr(0, records.bytes.size() - 1));
    CHECK(found.packets == kMost);
    CHECK(found.end == records.ends[kMost]);
    CHECK(found.missing == 1);
}

TEST_CASE("captures whose bytes are swapped in place, or whose lengths may be, are not indexed",
          "[mapi-core][drivers]")
{
    PcapSettings s = settings(16);
    CHECK(PcapPieces<true>::can_index(s));
    s.swap = mapi::links::swap_of(0);
    REQUIRE(s.swap);
    CHECK_FALSE(PcapPieces<true>::can_index(s));
    s = settings(16);
    s.is_early = true;
    CHECK_FALSE(PcapPieces<false>::can_index(s));
}
