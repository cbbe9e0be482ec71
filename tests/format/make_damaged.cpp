// SPDX-License-Identifier: MIT
// make_damaged: a folder name -> the damaged traces in it; run once for each file version, whose
// output is committed.
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "support/trace_builder.hpp"

namespace
{
struct Built {
    std::string bytes;
    std::vector<size_t> records; // offsets of the RECORDS chunks
    size_t footer = 0;
};

Built build()
{
    using namespace test_support;
    Built built;
    TraceBuilder trace;
    trace.info(plain_info());
    trace.calibration(NSLICE_CALIBRATION_START, 1000, 0, {entry(NSLICE_KIND_START, 0, 20, 40, 0.5)},
                      26, 22.5);
    const auto rx = trace.site("rx");
    for (uint64_t chunk = 0; chunk < 4; ++chunk) {
        built.records.push_back(trace.written_bytes());
        for (uint64_t i = 0; i < 4; ++i) {
            trace.start(0, 1, rx, 2000 + 1000 * chunk + 100 * i);
            trace.stop(0, 1, rx, 2050 + 1000 * chunk + 100 * i);
        }
        trace.cut_all();
    }
    built.footer = trace.written_bytes();
    trace.footer(NSLICE_END_CLOSED, 9000, 8000);
    built.bytes = trace.bytes();
    return built;
}

template <class Field> std::string with_field(std::string bytes, size_t offset, Field value)
{
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return bytes;
}
} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::cerr << "usage: make_damaged FOLDER\n";
        return 2;
    }
    const std::string folder = argv[1];
    const auto write = [&](const std::string &name, const std::string &bytes) {
        std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
    };
    const Built built = build();
    const std::string &whole = built.bytes;
    const size_t second = built.records[1];
    const size_t chunk_bytes = built.records[2] - second;

    write("empty.nsl", "");
    write("cut_in_header.nsl", whole.substr(0, 40));
    write("cut_in_chunk.nsl", whole.substr(0, built.records[3] + 100));
    write("bad_magic.nsl", with_field(whole, 0, 'X'));
    std::string newer = with_field(whole, offsetof(nslice_file_header, version), uint32_t{7});
    newer = with_field(newer, 60, test_support::slow_crc32c(newer.data(), 60));
    write("too_new.nsl", newer);
    std::string foreign =
        with_field(whole, offsetof(nslice_file_header, byte_order), uint32_t{0x04030201});
    write("foreign_byte_order.nsl", foreign);
    write("bad_file_header_crc.nsl", with_field(whole, 60, uint32_t{0}));
    write("bad_payload_crc.nsl", with_field(whole, second + 64 + 9, 'X'));
    write("bad_header_crc.nsl", with_field(whole, second + 60, uint32_t{0}));
    std::string length =
        with_field(whole, second + offsetof(nslice_chunk_header, payload_bytes), uint32_t{64});
    test_support::seal_chunk_header(length, second);
    write("bad_length.nsl", length);
    std::string missing = whole;
    missing.erase(second, chunk_bytes);
    write("missing_chunk.nsl", missing);
    write("no_footer.nsl", whole.substr(0, built.footer));
    std::string records =
        with_field(whole, second + offsetof(nslice_chunk_header, records), uint32_t{5});
    test_support::seal_chunk_header(records, second);
    write("wrong_record_count.nsl", records);
    std::string equation = whole;
    const size_t row = built.footer + 64 + sizeof(nslice_file_footer);
    equation = with_field(equation, row + offsetof(nslice_file_footer_cpu, issued), uint64_t{33});
    const size_t payload_bytes = sizeof(nslice_file_footer) + sizeof(nslice_file_footer_cpu);
    equation =
        with_field(equation, built.footer + offsetof(nslice_chunk_header, payload_crc32c),
                   test_support::slow_crc32c(equation.data() + built.footer + 64, payload_bytes));
    test_support::seal_chunk_header(equation, built.footer);
    write("broken_equation.nsl", equation);
    return 0;
}
