// SPDX-License-Identifier: MIT
#include <cstring>
#include <string>
#include <vector>

#include "decode/format.hpp"
#include "support/catch.hpp"

namespace
{
const nsdump::Format &v1 = *nsdump::find_format(1);

std::vector<uint64_t> units_of(std::string bytes)
{
    bytes.resize((bytes.size() + 7) / 8 * 8);
    std::vector<uint64_t> units(bytes.size() / 8);
    std::memcpy(units.data(), bytes.data(), bytes.size());
    return units;
}

uint64_t second_unit(uint32_t thread, uint16_t slice, unsigned kind, unsigned words)
{
    const nslice_record_head head = {0, thread, slice, static_cast<__u8>(kind),
                                     static_cast<__u8>(words)};
    uint64_t units[2];
    std::memcpy(units, &head, sizeof head);
    return units[1];
}

std::vector<nsdump::Event> decode(const std::vector<uint64_t> &units, nsdump::RecordCursor &cursor)
{
    cursor = {units.data(), units.data() + units.size(), 3};
    std::vector<nsdump::Event> events, block(4);
    while (const size_t count = v1.decode_records(cursor, block.data(), block.size()))
        events.insert(events.end(), block.begin(), block.begin() + long(count));
    return events;
}
} // namespace

TEST_CASE("an unknown version has no decoder", "[nsdump][format]")
{
    CHECK(nsdump::find_format(1) != nullptr);
    CHECK(nsdump::find_format(0) == nullptr);
    CHECK(nsdump::find_format(nsdump::kNewestVersion + 1) == nullptr);
}

TEST_CASE("a record becomes an event with its words", "[nsdump][format]")
{
    nsdump::RecordCursor cursor;
    const std::vector<uint64_t> units = {77, second_unit(5, 6, NSLICE_KIND_INIT, 3), 1, 2, 3};
    const auto events = decode(units, cursor);

    REQUIRE(events.size() == 1);
    CHECK(events[0].ticks == 77);
    CHECK(events[0].thread_id == 5);
    CHECK(events[0].slice_id == 6);
    CHECK(events[0].cpu == 3);
    CHECK(events[0].kind == NSLICE_KIND_INIT);
    REQUIRE(events[0].word_count == 3);
    CHECK(events[0].words[2] == 3);
    CHECK(cursor.malformed_words == 0);
}

TEST_CASE("records of unknown kind are skipped by their length and counted", "[nsdump][format]")
{
    nsdump::RecordCursor cursor;
    std::vector<uint64_t> units;
    for (uint64_t i = 0; i < 10; ++i) {
        units.insert(units.end(), {i, second_unit(1, 1, 99, 2), 0, 0});
        units.insert(units.end(), {i, second_unit(1, 1, NSLICE_KIND_START, 0)});
    }
    CHECK(decode(units, cursor).size() == 10);
    CHECK(cursor.unknown_kind == 10);
    CHECK(cursor.decoded == 20);
    CHECK(cursor.malformed_words == 0);
}

TEST_CASE("an invalid record ends the payload and is counted", "[nsdump][format]")
{
    nsdump::RecordCursor cursor;
    const uint64_t good = second_unit(1, 1, NSLICE_KIND_START, 0);
    SECTION("more words than a record can have")
    {
        CHECK(decode({1, good, 2, second_unit(1, 1, NSLICE_KIND_START, 7), 0, 0, 0, 0, 0, 0, 0},
                     cursor)
                  .size() == 1);
        CHECK(cursor.malformed_words == 9);
    }
    SECTION("words beyond the payload's end")
    {
        CHECK(decode({1, good, 2, second_unit(1, 1, NSLICE_KIND_START, 6), 0}, cursor).size() == 1);
        CHECK(cursor.malformed_words == 3);
    }
    SECTION("memory that was never written")
    {
        CHECK(decode({1, good, 0, 0, 3, good}, cursor).size() == 1);
        CHECK(cursor.malformed_words == 4);
    }
    SECTION("half a header")
    {
        CHECK(decode({1, good, 9}, cursor).size() == 1);
        CHECK(cursor.malformed_words == 1);
    }
}

TEST_CASE("INFO lines become keys; a later one replaces an earlier one", "[nsdump][format]")
{
    nsdump::Info info;
    CHECK(v1.decode_info(units_of("a=1\nb=x=y\na=2\nempty=\n"), info));
    CHECK(info == nsdump::Info{{"a", "2"}, {"b", "x=y"}, {"empty", ""}});
    CHECK_FALSE(v1.decode_info(units_of("no equals sign\nc=3\n"), info));
    CHECK(info["c"] == "3");
}

TEST_CASE("a site whose strings leave the chunk is refused, and the earlier ones stay",
          "[nsdump][format]")
{
    nslice_file_site site{};
    site.slice_id = 4;
    site.kind = NSLICE_KIND_START;
    site.line = 12;
    site.name_bytes = 3;
    site.file_bytes = 4;
    std::string good(reinterpret_cast<const char *>(&site), sizeof site);
    good += std::string("rx\0a.c\0\0", 8);
    std::vector<nsdump::Site> sites;

    CHECK(v1.decode_sites(units_of(good), sites));
    REQUIRE(sites.size() == 1);
    CHECK(sites[0].name == "rx");
    CHECK(sites[0].file == "a.c");
    CHECK(sites[0].line == 12);

    site.name_bytes = 60000;
    const std::string bad(reinterpret_cast<const char *>(&site), sizeof site);
    CHECK_FALSE(v1.decode_sites(units_of(good + bad), sites));
    CHECK(sites.size() == 2);

    site.name_bytes = 2; // no terminator where it should be
    std::string open(reinterpret_cast<const char *>(&site), sizeof site);
    open += std::string("rxyz\0\0\0\0", 8);
    CHECK_FALSE(v1.decode_sites(units_of(open), sites));
}

TEST_CASE("a calibration or footer that declares more rows than it contains is refused",
          "[nsdump][format]")
{
    nslice_file_calibration calibration{};
    calibration.phase = NSLICE_CALIBRATION_START;
    calibration.entries = 0xffffffff;
    nsdump::Calibration decoded;
    CHECK_FALSE(v1.decode_calibration(
        units_of({reinterpret_cast<char *>(&calibration), sizeof calibration}), decoded));
    calibration.entries = 0;
    CHECK(v1.decode_calibration(
        units_of({reinterpret_cast<char *>(&calibration), sizeof calibration}), decoded));

    nslice_file_footer footer{};
    footer.cpus = 1;
    nsdump::Footer rows;
    CHECK_FALSE(
        v1.decode_footer(units_of({reinterpret_cast<char *>(&footer), sizeof footer}), rows));
    CHECK_FALSE(v1.decode_footer({}, rows));
}

namespace
{
std::string epoch_bytes(uint64_t begin, uint64_t end, const std::vector<uint16_t> &off,
                        uint32_t ids)
{
    const nslice_file_epoch raw = {begin, end, 7, ids};
    std::string bytes(reinterpret_cast<const char *>(&raw), sizeof raw);
    bytes.append(reinterpret_cast<const char *>(off.data()), 2 * off.size());
    bytes.resize((bytes.size() + 7) / 8 * 8);
    return bytes;
}
} // namespace

TEST_CASE("epochs have a process, a span and the ids that were off", "[nsdump][format]")
{
    std::vector<nsdump::Epoch> epochs;
    CHECK(v1.decode_epochs(units_of(epoch_bytes(10, 20, {}, 0) + epoch_bytes(21, 21, {3, 4, 9}, 3)),
                           epochs));
    REQUIRE(epochs.size() == 2);
    CHECK(epochs[0].off.empty());
    CHECK(epochs[1].pid == 7);
    CHECK(epochs[1].begin_ticks == 21);
    CHECK(epochs[1].end_ticks == 21);
    CHECK(epochs[1].off == std::vector<uint16_t>{3, 4, 9});
    CHECK(v1.decode_epochs({}, epochs));
}

TEST_CASE("a malformed epoch is refused, and the earlier ones stay", "[nsdump][format]")
{
    const std::string good = epoch_bytes(10, 20, {1, 2}, 2);
    const auto refused = [&](const std::string &bad) {
        std::vector<nsdump::Epoch> epochs;
        return !v1.decode_epochs(units_of(good + bad), epochs) && epochs.size() == 1;
    };
    CHECK(refused(epoch_bytes(20, 10, {}, 0)));                       // ends before it begins
    CHECK(refused(epoch_bytes(30, 40, {2, 1}, 2)));                   // not ascending
    CHECK(refused(epoch_bytes(30, 40, {2, 2}, 2)));                   // an id twice
    CHECK(refused(epoch_bytes(30, 40, {NSLICE_KERNEL_FIRST_ID}, 1))); // an id of the kernel
    CHECK(refused(epoch_bytes(30, 40, {1, 2, 3, 4}, 5)));             // more ids than there are
    CHECK(refused(epoch_bytes(30, 40, {}, 0xffffffff)));
    CHECK(refused(std::string(8, '\0'))); // half a head
}
