// SPDX-License-Identifier: MIT
// Formats that DAG cards wrote before ERF are refused by name; ERF is always accepted, even if its
// records have the same length.
#include "support/catch.hpp"

#include <random>

#include <mapi/errors.h>

#include "drivers/catalog.hpp"
#include "mapi-core/capture_builder.hpp"
#include "mapi-core/drivers/erf_builder.hpp"
#include "mapi-core/drivers/read_capture.hpp"
#include "support/temp_dir.hpp"

using test_support::CaptureBuilder;
using test_support::Erf;
using test_support::read_capture;
using test_support::TempDir;

namespace
{
constexpr size_t kBytes = 64;

// The driver's error message; empty if it opens the file.
std::string refusal(const mapi_driver &driver, const std::string &bytes)
{
    const TempDir dir;
    return read_capture(driver, CaptureBuilder().text(bytes).write(dir / "x")).open_text;
}

std::string time_stamp(uint32_t i)
{
    return CaptureBuilder().u32(i * 7919).u32(1000000000 + i / 3).bytes();
}

std::string filled(std::string record, std::mt19937 &random)
{
    while (record.size() < kBytes)
        record += char(random());
    return record;
}

// To a card whose address begins with 00:40, which ERF takes for a record length; 0x0102 bytes
// long, and the low byte is the Ethernet type.
std::string legacy_ethernet(uint32_t i, std::mt19937 &random, uint16_t wire_len = 0x0102)
{
    const std::string frame = CaptureBuilder(true)
                                  .u16(0x0040)
                                  .u32(random())
                                  .u16(0x0040)
                                  .u32(random())
                                  .u16(0x0800)
                                  .u16(0x4500)
                                  .u16(uint16_t(wire_len - 18))
                                  .bytes();
    return filled(time_stamp(i) + CaptureBuilder().u16(wire_len).bytes() + frame, random);
}

std::string legacy_sonet(uint32_t i, std::mt19937 &random)
{
    return filled(time_stamp(i) +
                      CaptureBuilder(true).u32(64).u32(40 + i % 1400).u32(0xff030021).bytes(),
                  random);
}

std::string legacy_cell(uint32_t i, std::mt19937 &random)
{
    return filled(time_stamp(i) + CaptureBuilder(true).u32(random()).u32(0x00a00640).bytes(),
                  random);
}

std::string erf_of_the_same_length(uint8_t type, uint32_t i, std::mt19937 &random)
{
    std::string record = Erf{.type = type,
                             .wire_len = uint16_t(40 + random() % 1460),
                             .seconds = 1000000000 + i / 3,
                             .fraction = i * 7919,
                             .record_bytes = kBytes}
                             .bytes();
    return filled(record, random);
}

template <class Make> std::string repeated(size_t count, const Make &make)
{
    std::string bytes;
    for (uint32_t i = 0; i < count; ++i)
        bytes += make(i);
    return bytes;
}
} // namespace

TEST_CASE("formats older than ERF are refused by name", "[mapi-core][drivers]")
{
    std::mt19937 random(GENERATE(range(1, 20)));
    const size_t count = GENERATE(4, 5, 70, 3000);
    for (const mapi_driver *driver : {&mapi_driver_erf_file, &mapi_driver_pcap_file}) {
        CHECK_THAT(refusal(*driver,
                           repeated(count, [&](uint32_t i) { return legacy_ethernet(i, random); })),
                   Catch::Contains("legacy Ethernet format of DAG cards"));
        CHECK_THAT(refusal(*driver, repeated(count,
                                             [&](uint32_t i) {
                                                 return legacy_ethernet(i, random,
                                                                        uint16_t(64 + i % 1400));
                                             })),
                   Catch::Contains("legacy Ethernet format of DAG cards"));
        CHECK_THAT(
            refusal(*driver, repeated(count, [&](uint32_t i) { return legacy_sonet(i, random); })),
            Catch::Contains("legacy POS format of DAG cards") &&
                Catch::Contains("driver=erf_file"));
        CHECK_THAT(
            refusal(*driver, repeated(count, [&](uint32_t i) { return legacy_cell(i, random); })),
            Catch::Contains("legacy ATM format of DAG cards"));
    }
}

TEST_CASE("one record of Ethernet or POS is enough to recognise them", "[mapi-core][drivers]")
{
    std::mt19937 random(3);
    CHECK_THAT(refusal(mapi_driver_erf_file, legacy_ethernet(0, random)),
               Catch::Contains("legacy Ethernet"));
    CHECK_THAT(refusal(mapi_driver_erf_file, legacy_sonet(0, random)),
               Catch::Contains("legacy POS"));
}

TEST_CASE("ERF with records of 64 bytes is read, complete, truncated and damaged",
          "[mapi-core][drivers]")
{
    std::mt19937 random(GENERATE(range(1, 20)));
    const uint8_t type = GENERATE(as<uint8_t>(), 1, 2, 3, 11, 22, 25);
    const size_t count = GENERATE(1, 2, 4, 70, 300);
    INFO("type " << int(type) << ", " << count << " records");
    const std::string whole =
        repeated(count, [&](uint32_t i) { return erf_of_the_same_length(type, i, random); });
    CHECK(refusal(mapi_driver_erf_file, whole).empty());
    if (count < 4)
        return;
    CHECK(refusal(mapi_driver_erf_file, whole.substr(0, whole.size() - 1 - random() % 60)).empty());
    std::string damaged = whole;
    damaged[3 * kBytes + 8] = 0;                                                   // no type
    damaged[(count / 2 > 3 ? count / 2 : 3) * kBytes + 10] = char(random() % 256); // another length
    CHECK(refusal(mapi_driver_erf_file, damaged).empty());
}

TEST_CASE("a file of neither format is not reported as one of them", "[mapi-core][drivers]")
{
    std::mt19937 random(5);
    for (int round = 0; round < 200; ++round) {
        std::string bytes;
        while (bytes.size() < 640)
            bytes += char(random());
        CHECK_THAT(refusal(mapi_driver_pcap_file, bytes),
                   Catch::Contains("neither pcap nor pcapng"));
    }
}
