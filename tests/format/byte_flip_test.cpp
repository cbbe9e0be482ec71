// SPDX-License-Identifier: MIT
// Every byte of a trace, changed -> a report, or no difference; never a crash.
#include <cstring>
#include <iterator>

#include "analyse/analyse.hpp"
#include "decode/error.hpp"
#include "export/exporter.hpp"
#include "support/catch.hpp"
#include "support/requires.hpp"
#include "support/trace_builder.hpp"

namespace
{
std::string small_trace()
{
    using namespace test_support;
    TraceBuilder trace;
    trace.info(plain_info(1e9, "INSTRUCTIONS"));
    trace.calibration(NSLICE_CALIBRATION_START, 900, 0, {entry(NSLICE_KIND_START, 0, 20, 40, 0.5)},
                      26, 22.5);
    const auto unit = trace.site("batch", NSLICE_KIND_INIT);
    const auto rx = trace.site("rx");
    for (uint64_t i = 0; i < 4; ++i) {
        const auto cpu = uint32_t(i % 2);
        trace.init(cpu, 1, unit, 1000 + 100 * i, i, 64, 4096);
        trace.start(cpu, 1, rx, 1010 + 100 * i, {i * 50});
        trace.stop(cpu, 1, rx, 1050 + 100 * i, {i * 50 + 20});
        trace.exit(cpu, 1, unit, 1060 + 100 * i);
        trace.cut_all();
    }
    trace.lose(0, NSLICE_LOST_FULL, 3);
    trace.calibration(NSLICE_CALIBRATION_END, 1500, 600, {entry(NSLICE_KIND_START, 0, 20, 40, 0.5)},
                      26, 22.5);
    trace.footer(NSLICE_END_CLOSED, 1500, 600);
    return trace.bytes();
}

nsdump::StatsReport analyse(const std::string &bytes)
{
    std::vector<std::byte> copy(bytes.size());
    if (!bytes.empty())
        std::memcpy(copy.data(), bytes.data(), bytes.size());
    nsdump::TraceFile trace(nsdump::bytes_in_memory(std::move(copy), "flip.nsl"));
    nsdump::AnalyseOptions options;
    options.threads = 1; // starting another would take a quarter of the time
    return nsdump::analyse_trace(trace, options);
}

// "refused", "reported", or the complete output as text.
std::string outcome(const std::string &bytes)
{
    try {
        const nsdump::StatsReport report = analyse(bytes);
        const std::string json =
            nsdump::stats_json(report) + nsdump::stats_csv(report) + nsdump::stats_text(report);
        return report.has_findings() ? "reported" : json;
    } catch (const nsdump::TraceError &) {
        return "refused";
    }
}
} // namespace

TEST_CASE("a byte that was changed is reported, or changes nothing", "[format][damage]")
{
    const std::string whole = small_trace();
    const std::string right = outcome(whole);
    REQUIRE(right.size() > 100);
    constexpr char kFlips[] = {'\x01', '\x10', '\x80', '\xff'};
    for (size_t place = 0; place < whole.size(); ++place) {
        for (size_t i = 0; i < std::size(kFlips); ++i) {
            const char flip = kFlips[i];
            if (place % std::size(kFlips) != i && !test_support::runs_all_cases())
                continue;
            std::string bytes = whole;
            bytes[place] = char(bytes[place] ^ flip);
            const std::string got = outcome(bytes);
            INFO("byte " << place << " xor " << int(flip));
            REQUIRE((got == "reported" || got == "refused" || got == right));
        }
    }
}

TEST_CASE("a trace truncated at any byte is refused or reported", "[format][damage]")
{
    const std::string whole = small_trace();
    for (size_t length = 0; length < whole.size(); ++length) {
        const std::string got = outcome(whole.substr(0, length));
        INFO("cut at " << length);
        REQUIRE((got == "reported" || got == "refused"));
    }
}

TEST_CASE("nonsensical contents with correct checksums do not cause a crash", "[format][damage]")
{
    const std::string whole = small_trace();
    uint64_t random = 88172645463325252u;
    const auto next = [&random] {
        random ^= random << 13;
        random ^= random >> 7;
        return random ^= random << 17;
    };
    // Offsets of the chunks of the original trace.
    std::vector<std::pair<size_t, uint32_t>> chunks;
    for (size_t at = 64; at < whole.size();) {
        nslice_chunk_header header;
        std::memcpy(&header, whole.data() + at, sizeof header);
        chunks.emplace_back(at, header.payload_bytes);
        at += sizeof header + header.payload_bytes;
    }
    const int rounds = test_support::runs_all_cases() ? 20000 : 4000;
    for (int round = 0; round < rounds; ++round) {
        std::string bytes = whole;
        for (int changes = 0; changes < 3; ++changes) {
            const auto [at, payload_bytes] = chunks[next() % chunks.size()];
            if (next() % 4 ==
                0) { // a header field: sequence, cpu, records, lost_before, first_ticks, kind
                static constexpr size_t kFields[] = {4, 16, 24, 28, 32, 40};
                bytes[at + kFields[next() % 6] + next() % 2] = char(next());
            } else {
                bytes[at + 64 + next() % payload_bytes] = char(next());
            }
            const uint32_t crc = test_support::slow_crc32c(bytes.data() + at + 64, payload_bytes);
            std::memcpy(bytes.data() + at + offsetof(nslice_chunk_header, payload_crc32c), &crc, 4);
            test_support::seal_chunk_header(bytes, at);
        }
        REQUIRE_FALSE(outcome(bytes).empty());
    }
}
