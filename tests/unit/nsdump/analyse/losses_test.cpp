// SPDX-License-Identifier: MIT
#include "analyse/losses.hpp"

#include "nsdump_support.hpp"
#include "support/catch.hpp"

using nsdump::losses_of;
using nsdump::TraceFile;
using test_support::source_of;
using test_support::TraceBuilder;

namespace
{
TraceBuilder lossy_trace()
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    trace.start(0, 1, 1, 1);
    trace.lose(0, NSLICE_LOST_FULL, 3);
    trace.lose(0, NSLICE_LOST_BUSY, 2);
    trace.start(0, 1, 1, 2);
    trace.start(4, 1, 1, 3);
    return trace;
}

// Changes the footer row of the first CPU and recomputes the chunk's checksum.
std::string with_row(std::string bytes, size_t field_offset, uint64_t value)
{
    const size_t payload_bytes = sizeof(nslice_file_footer) + 2 * sizeof(nslice_file_footer_cpu);
    const size_t payload = bytes.size() - payload_bytes;
    std::memcpy(bytes.data() + payload + sizeof(nslice_file_footer) + field_offset, &value, 8);
    const uint32_t crc = test_support::slow_crc32c(bytes.data() + payload, payload_bytes);
    std::memcpy(bytes.data() + payload - 64 + offsetof(nslice_chunk_header, payload_crc32c), &crc,
                4);
    test_support::seal_chunk_header(bytes, payload - 64);
    return bytes;
}
} // namespace

TEST_CASE("issued records are drained or lost, by cause and CPU", "[nsdump][losses]")
{
    auto builder = lossy_trace();
    builder.footer(NSLICE_END_CLOSED, 9, 9);
    const auto losses = losses_of(TraceFile(source_of(builder.bytes())), false);
    CHECK(losses.issued == 8);
    CHECK(losses.drained == 3);
    CHECK(losses.lost[NSLICE_LOST_FULL] == 3);
    CHECK(losses.lost[NSLICE_LOST_BUSY] == 2);
    CHECK(losses.lost_sum() == 5);
    CHECK(losses.equation_holds == true);
    REQUIRE(losses.by_cpu.size() == 2);
    CHECK(losses.by_cpu[1].cpu == 4);
    CHECK(losses.by_cpu[1].lost_sum() == 0);
}

TEST_CASE("without a footer, the last chunks give the losses and the equation is not checked",
          "[nsdump][losses]")
{
    auto builder = lossy_trace();
    const auto losses = losses_of(TraceFile(source_of(builder.bytes())), false);
    CHECK_FALSE(losses.has_footer);
    CHECK_FALSE(losses.equation_holds.has_value());
    CHECK(losses.lost_without_cause == 5);
    CHECK_FALSE(losses.is_issued_known());
    CHECK(losses.equation() == "issued unknown, drained 3, known lost 5");
    CHECK(losses.lost_words() == "at least 5 records were lost");
}

TEST_CASE("what a pause left out is no loss, with and without a footer", "[nsdump][losses]")
{
    TraceBuilder builder;
    builder.info(test_support::plain_info());
    builder.start(0, 1, 1, 1);
    builder.leave_out(10);
    builder.start(0, 1, 1, 2);
    builder.lose(0, NSLICE_LOST_FULL, 3); // at the end
    const TraceFile cut(source_of(builder.bytes()));
    CHECK(losses_of(cut, false).lost_sum() == 0);
    CHECK(losses_of(cut, false).issued == 2);
    builder.footer(NSLICE_END_CLOSED, 9, 9);
    const TraceFile whole(source_of(builder.bytes()));
    CHECK(losses_of(whole, false).lost_sum() == 3);
    CHECK(losses_of(whole, false).equation_holds == true);
    CHECK(whole.lost_at_end(whole.cpus()[0]) == 3);
}

TEST_CASE("a footer whose numbers do not add up, or overflow, violates the equation",
          "[nsdump][losses]")
{
    auto builder = lossy_trace();
    builder.footer(NSLICE_END_CLOSED, 9, 9);
    const std::string bytes = builder.bytes();
    const auto holds = [&](size_t field, uint64_t value) {
        return losses_of(TraceFile(source_of(with_row(bytes, field, value))), false).equation_holds;
    };
    CHECK(holds(offsetof(nslice_file_footer_cpu, issued), 7) == true); // the original value
    CHECK(holds(offsetof(nslice_file_footer_cpu, issued), 6) == false);
    CHECK(holds(offsetof(nslice_file_footer_cpu, lost), ~0ull) == false);
    CHECK(holds(offsetof(nslice_file_footer_cpu, lost) + 7 * 8, 1) == false);
}

TEST_CASE("chunks that differ from the footer's record count are found, unless chunks are damaged",
          "[nsdump][losses]")
{
    auto builder = lossy_trace();
    builder.footer(NSLICE_END_CLOSED, 9, 9);
    std::string bytes = with_row(builder.bytes(), offsetof(nslice_file_footer_cpu, issued), 8);
    bytes = with_row(bytes, offsetof(nslice_file_footer_cpu, drained), 3);
    CHECK(losses_of(TraceFile(source_of(bytes)), false).equation_holds == false);
    CHECK(losses_of(TraceFile(source_of(bytes)), true).equation_holds == true);
}
