// SPDX-License-Identifier: MIT
// Builds valid trace files byte by byte, independent of the library's writer and of the decoder.
#include "support/trace_builder.hpp"

#include <cstddef>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace test_support
{
namespace
{
struct CrcTable {
    uint32_t at[16][256];
    CrcTable()
    {
        for (uint32_t i = 0; i < 256; ++i) {
            uint32_t crc = i;
            for (int bit = 0; bit < 8; ++bit)
                crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
            at[0][i] = crc;
        }
        for (int k = 1; k < 16; ++k)
            for (uint32_t i = 0; i < 256; ++i)
                at[k][i] = at[k - 1][i] >> 8 ^ at[0][at[k - 1][i] & 0xff];
    }
};

template <class Struct> void seal(Struct &header)
{
    header.header_crc32c = slow_crc32c(&header, offsetof(Struct, header_crc32c));
}
} // namespace

uint32_t slow_crc32c(const void *data, size_t bytes)
{
    static const CrcTable table;
    const auto *at = static_cast<const unsigned char *>(data);
    uint32_t crc = ~0u;
    for (; bytes >= 16;
         bytes -= 16,
         at += 16) { // sixteen bytes per step, so that large traces are generated in seconds
        uint32_t next = 0;
        for (int i = 0; i < 4; ++i)
            next ^= table.at[15 - i][at[i] ^ (crc >> (8 * i) & 0xff)];
        for (int i = 4; i < 16; ++i)
            next ^= table.at[15 - i][at[i]];
        crc = next;
    }
    for (; bytes > 0; --bytes, ++at)
        crc = crc >> 8 ^ table.at[0][(crc ^ *at) & 0xff];
    return ~crc;
}

void seal_chunk_header(std::string &trace, size_t offset)
{
    nslice_chunk_header header;
    std::memcpy(&header, trace.data() + offset, sizeof header);
    seal(header);
    std::memcpy(trace.data() + offset, &header, sizeof header);
}

TraceBuilder::TraceBuilder()
    : out_([this](const void *data, size_t bytes) {
          memory_.append(static_cast<const char *>(data), bytes);
      })
{
    file_header();
}

TraceBuilder::TraceBuilder(Out out) : out_(std::move(out))
{
    file_header();
}

void TraceBuilder::put(const void *data, size_t bytes)
{
    out_(data, bytes);
    written_bytes_ += bytes;
}

void TraceBuilder::file_header()
{
    nslice_file_header header{};
    std::memcpy(header.magic, NSLICE_FILE_MAGIC, sizeof header.magic);
    header.version = NSLICE_FILE_VERSION;
    header.header_bytes = sizeof header;
    header.byte_order = NSLICE_FILE_BYTE_ORDER;
    header.created_unix_ns = 1'700'000'000'000'000'000u;
    for (size_t i = 0; i < sizeof header.session_uuid; ++i)
        header.session_uuid[i] = uint8_t(i * 17);
    seal(header);
    put(&header, sizeof header);
}

void TraceBuilder::put_chunk(nslice_chunk_header header, const void *payload, size_t bytes)
{
    static const char zeros[8] = {};
    const size_t padding = (8 - bytes % 8) % 8;
    std::string padded;
    if (padding > 0) {
        padded.assign(static_cast<const char *>(payload), bytes);
        padded.append(zeros, padding);
        payload = padded.data();
        bytes = padded.size();
    }
    header.magic = NSLICE_CHUNK_MAGIC;
    header.header_bytes = sizeof header;
    header.payload_bytes = uint32_t(bytes);
    header.payload_crc32c = slow_crc32c(payload, bytes);
    seal(header);
    put(&header, sizeof header);
    put(payload, bytes);
}

void TraceBuilder::chunk(unsigned kind, const void *payload, size_t bytes)
{
    nslice_chunk_header header{};
    header.kind = uint16_t(kind);
    header.sequence = sequences_[kind]++;
    put_chunk(header, payload, bytes);
}

TraceBuilder &TraceBuilder::info(const std::string &text)
{
    chunk(NSLICE_CHUNK_INFO, text.data(), text.size());
    return *this;
}

uint16_t TraceBuilder::site(const std::string &name, unsigned kind, const std::string &file,
                            uint32_t line, uint32_t pid, unsigned flags)
{
    nslice_file_site site{};
    site.slice_id = ++last_slice_;
    site.kind = uint8_t(kind);
    site.flags = uint8_t(flags);
    site.line = line;
    site.pid = pid;
    put_site(NSLICE_CHUNK_SITES, site, name, file);
    return last_slice_;
}

uint16_t TraceBuilder::kernel_site(const std::string &name, unsigned kind, unsigned flags)
{
    nslice_file_site site{};
    site.slice_id = ++last_kernel_slice_;
    site.kind = uint8_t(kind);
    site.flags = uint8_t(flags);
    put_site(NSLICE_CHUNK_KERNEL_SITES, site, name, "tracepoint");
    return last_kernel_slice_;
}

void TraceBuilder::put_site(unsigned chunk_kind, nslice_file_site site, const std::string &name,
                            const std::string &file)
{
    site.name_bytes = uint16_t(name.size() + 1);
    site.file_bytes = uint16_t(file.size() + 1);
    std::string payload(reinterpret_cast<const char *>(&site), sizeof site);
    payload += name + '\0' + file + '\0';
    chunk(chunk_kind, payload.data(), payload.size());
}

TraceBuilder &
TraceBuilder::kernel_calibration(const std::vector<nslice_kernel_calibration_entry> &entries,
                                 unsigned phase)
{
    nslice_file_kernel_calibration head{};
    head.phase = phase;
    head.ticks = 1000;
    head.mono_ns = 1000;
    head.entries = uint32_t(entries.size());
    std::string payload(reinterpret_cast<const char *>(&head), sizeof head);
    for (const nslice_kernel_calibration_entry &one : entries)
        payload.append(reinterpret_cast<const char *>(&one), sizeof one);
    chunk(NSLICE_CHUNK_KERNEL_CALIBRATION, payload.data(), payload.size());
    return *this;
}

TraceBuilder &TraceBuilder::calibration(unsigned phase, uint64_t ticks, uint64_t mono_ns,
                                        const std::vector<nslice_calibration_entry> &entries,
                                        double step_ticks, double read_ticks)
{
    if (phase == NSLICE_CALIBRATION_END) {
        cut_all();
        end_calibration_offset_ = written_bytes_;
    }
    nslice_file_calibration head{};
    head.phase = phase;
    head.entries = uint32_t(entries.size());
    head.ticks = ticks;
    head.mono_ns = mono_ns;
    head.clock_step_ticks = step_ticks;
    head.clock_read_ticks = read_ticks;
    head.pid = 1;
    std::string payload(reinterpret_cast<const char *>(&head), sizeof head);
    for (const nslice_calibration_entry &one : entries)
        payload.append(reinterpret_cast<const char *>(&one), sizeof one);
    chunk(NSLICE_CHUNK_CALIBRATION, payload.data(), payload.size());
    return *this;
}

TraceBuilder &TraceBuilder::epoch(uint64_t begin_ticks, uint64_t end_ticks,
                                  const std::vector<uint16_t> &off, uint32_t pid)
{
    const nslice_file_epoch head = {begin_ticks, end_ticks, pid, uint32_t(off.size())};
    std::string payload(reinterpret_cast<const char *>(&head), sizeof head);
    payload.append(reinterpret_cast<const char *>(off.data()), off.size() * sizeof off[0]);
    chunk(NSLICE_CHUNK_EPOCHS, payload.data(), payload.size());
    return *this;
}

void TraceBuilder::record(uint32_t cpu, uint32_t thread, unsigned kind, uint16_t slice,
                          uint64_t ticks, const uint64_t *words, size_t count)
{
    if (!last_ || last_number_ != cpu) {
        last_ = &cpus_[cpu];
        last_number_ = cpu;
    }
    Cpu &state = *last_;
    if ((state.units.size() + NSLICE_HEAD_WORDS + count) * NSLICE_WORD_BYTES > chunk_bytes_)
        flush(cpu, state);
    if (state.records++ == 0) {
        state.first_ticks = ticks;
        state.lost_before = state.lost_sum;
        state.left_out_before = left_out_;
        state.units.reserve(chunk_bytes_ / NSLICE_WORD_BYTES);
    }
    const nslice_record_head head = {ticks, thread, slice, static_cast<__u8>(kind),
                                     static_cast<__u8>(count)};
    uint64_t units[2];
    std::memcpy(units, &head, sizeof head);
    state.units.push_back(units[0]);
    state.units.push_back(units[1]);
    state.units.insert(state.units.end(), words, words + count);
}

void TraceBuilder::flush(uint32_t number, Cpu &cpu)
{
    if (cpu.records == 0)
        return;
    nslice_chunk_header header{};
    header.kind = number & kKernel ? NSLICE_CHUNK_KERNEL_RECORDS : NSLICE_CHUNK_RECORDS;
    header.sequence = cpu.chunks++;
    header.cpu = number & ~kKernel;
    header.records = cpu.records;
    header.lost_before = cpu.lost_before;
    header.left_out_before = cpu.left_out_before;
    header.first_ticks = cpu.first_ticks;
    put_chunk(header, cpu.units.data(), cpu.units.size() * NSLICE_WORD_BYTES);
    cpu.drained += cpu.records;
    cpu.records = 0;
    cpu.units.clear();
}

void TraceBuilder::cut(uint32_t cpu)
{
    flush(cpu, cpus_[cpu]);
}

void TraceBuilder::cut_all()
{
    for (auto &[number, cpu] : cpus_)
        flush(number, cpu);
}

void TraceBuilder::lose(uint32_t cpu, unsigned cause, uint64_t count)
{
    cut(cpu);
    cpus_[cpu].lost[cause] += count;
    cpus_[cpu].lost_sum += count;
}

void TraceBuilder::leave_out(uint64_t count)
{
    cut_all();
    left_out_ += count;
}

void TraceBuilder::footer(unsigned end, uint64_t ticks, uint64_t mono_ns)
{
    cut_all();
    std::string rows;
    nslice_file_kernel_totals totals{};
    totals.cpus = add_rows(true, rows);
    rows.insert(0, reinterpret_cast<const char *>(&totals), sizeof totals);
    if (totals.cpus > 0 && has_kernel_totals_)
        chunk(NSLICE_CHUNK_KERNEL_TOTALS, rows.data(), rows.size());
    rows.clear();
    nslice_file_footer head{};
    head.cpus = add_rows(false, rows);
    head.end = end;
    head.ticks = ticks;
    head.mono_ns = mono_ns;
    head.end_calibration_offset = end_calibration_offset_;
    if (tells_chunks_) {
        head.info_chunks = uint32_t(sequences_[NSLICE_CHUNK_INFO]);
        head.site_chunks = uint32_t(sequences_[NSLICE_CHUNK_SITES]);
        head.calibration_chunks = uint32_t(sequences_[NSLICE_CHUNK_CALIBRATION]);
        head.kernel_totals_chunks = uint32_t(sequences_[NSLICE_CHUNK_KERNEL_TOTALS]);
        head.kernel_calibration_chunks = uint32_t(sequences_[NSLICE_CHUNK_KERNEL_CALIBRATION]);
        head.kernel_site_chunks = uint32_t(sequences_[NSLICE_CHUNK_KERNEL_SITES]);
    }
    std::string payload(reinterpret_cast<const char *>(&head), sizeof head);
    payload += rows;
    chunk(NSLICE_CHUNK_FOOTER, payload.data(), payload.size());
}

// Returns the number of rows.
uint32_t TraceBuilder::add_rows(bool is_kernel, std::string &payload) const
{
    uint32_t rows = 0;
    for (const auto &[number, cpu] : cpus_) {
        if (((number & kKernel) != 0) != is_kernel)
            continue;
        nslice_file_footer_cpu row{};
        row.cpu = number & ~kKernel;
        row.chunks = cpu.chunks;
        row.issued = cpu.drained + cpu.lost_sum;
        row.drained = cpu.drained;
        std::memcpy(row.lost, cpu.lost, sizeof row.lost);
        payload.append(reinterpret_cast<const char *>(&row), sizeof row);
        ++rows;
    }
    return rows;
}

const std::string &TraceBuilder::bytes()
{
    cut_all();
    return memory_;
}

void TraceBuilder::write(const std::string &path)
{
    std::ofstream file(path, std::ios::binary);
    file << bytes();
    if (!file.flush())
        throw std::runtime_error("cannot write " + path);
}

std::string plain_info(double hz, const std::string &counters)
{
    return "writer.version=test\nmachine.cpu=Test "
           "CPU\nmachine.arch=x86_64\nmachine.virtualised=none\n"
           "clock.source=tsc\nclock.mode=fast\nclock.invariant=yes\nclock.hz=" +
           std::to_string(hz) + "\nring.kind=rseq\nring.full=discard\ncounters.source=" +
           (counters.empty() ? "none" : "perf-read") + "\ncounters.names=" + counters + "\n";
}

nslice_calibration_entry entry(unsigned kind, unsigned field, double inner, double outer,
                               double ci95, uint32_t cpu)
{
    nslice_calibration_entry out{};
    out.cpu = cpu;
    out.kind = uint8_t(kind);
    out.field = uint8_t(field);
    out.samples = 100;
    out.inner = inner;
    out.inner_ci95 = kind == NSLICE_KIND_START ? ci95 : 0;
    out.outer = outer;
    out.outer_ci95 = ci95;
    return out;
}
} // namespace test_support
