// SPDX-License-Identifier: MIT
// Builds valid trace files byte by byte, independent of the library's writer and of the decoder.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nsprobe/file.h>

namespace test_support
{
using Words = std::vector<uint64_t>;

// A separate implementation, so that an error in the decoder's checksum is detected.
uint32_t slow_crc32c(const void *data, size_t bytes);

// Recomputes the checksum of the chunk header at `offset`, after a test has changed a field.
void seal_chunk_header(std::string &trace, size_t offset);

class TraceBuilder
{
public:
    using Out = std::function<void(const void *, size_t)>;

    // Collects the trace in memory; take it with bytes().
    TraceBuilder();
    // Passes each piece to `out` as soon as it is complete: for traces larger than memory.
    explicit TraceBuilder(Out out);

    TraceBuilder &info(const std::string &text); // "key=value\n" lines
    // Writes a SITES chunk with one site and returns its slice id.
    uint16_t site(const std::string &name, unsigned kind = NSLICE_KIND_START,
                  const std::string &file = "app.c", uint32_t line = 1, uint32_t pid = 1,
                  unsigned flags = 0);
    // Like site(), for a kernel site; `flags` are NSLICE_SITE_*.
    uint16_t kernel_site(const std::string &name, unsigned kind = NSLICE_KIND_START,
                         unsigned flags = 0);
    TraceBuilder &calibration(unsigned phase, uint64_t ticks, uint64_t mono_ns,
                              const std::vector<nslice_calibration_entry> &entries,
                              double step_ticks = 1, double read_ticks = 20);

    // A chunk with one epoch; `off` must be ascending.
    TraceBuilder &epoch(uint64_t begin_ticks, uint64_t end_ticks, const std::vector<uint16_t> &off,
                        uint32_t pid = 1);

    void record(uint32_t cpu, uint32_t thread, unsigned kind, uint16_t slice, uint64_t ticks,
                const uint64_t *words = nullptr, size_t count = 0);
    void start(uint32_t cpu, uint32_t thread, uint16_t slice, uint64_t ticks,
               const Words &words = {})
    {
        record(cpu, thread, NSLICE_KIND_START, slice, ticks, words.data(), words.size());
    }
    void stop(uint32_t cpu, uint32_t thread, uint16_t slice, uint64_t ticks,
              const Words &words = {})
    {
        record(cpu, thread, NSLICE_KIND_STOP, slice, ticks, words.data(), words.size());
    }
    void mark(uint32_t cpu, uint32_t thread, uint16_t slice, uint64_t ticks, uint64_t value)
    {
        record(cpu, thread, NSLICE_KIND_MARK, slice, ticks, &value, 1);
    }
    void init(uint32_t cpu, uint32_t thread, uint16_t slice, uint64_t ticks, uint64_t number,
              uint64_t packets, uint64_t wire_bytes)
    {
        const uint64_t words[] = {number, packets, wire_bytes};
        record(cpu, thread, NSLICE_KIND_INIT, slice, ticks, words, 3);
    }
    void exit(uint32_t cpu, uint32_t thread, uint16_t slice, uint64_t ticks)
    {
        record(cpu, thread, NSLICE_KIND_EXIT, slice, ticks);
    }

    // The "cpu" of records from the kernel's ring of a CPU.
    static uint32_t kernel(uint32_t cpu) { return kKernel | cpu; }
    TraceBuilder &kernel_calibration(const std::vector<nslice_kernel_calibration_entry> &entries,
                                     unsigned phase = NSLICE_CALIBRATION_START);

    // The next records of `cpu` follow `count` lost ones.
    void lose(uint32_t cpu, unsigned cause, uint64_t count);
    // The next records of all CPUs follow `count` that were left out in a pause.
    void leave_out(uint64_t count);
    // Ends the current RECORDS chunk of a CPU (or of all); the next record begins a new one.
    void cut(uint32_t cpu);
    void cut_all();
    // Any chunk, e.g. of a kind that readers do not know.
    void chunk(unsigned kind, const void *payload, size_t bytes);
    // Preceded by the kernel's totals if there are kernel records.
    void footer(unsigned end, uint64_t ticks, uint64_t mono_ns);
    void leave_out_kernel_totals() { has_kernel_totals_ = false; }
    // Like writers from before the footer had these fields.
    void leave_out_chunk_counts() { tells_chunks_ = false; }

    void set_chunk_bytes(size_t bytes) { chunk_bytes_ = bytes; }
    uint64_t written_bytes() const { return written_bytes_; }
    const std::string &bytes();
    void write(const std::string &path);

private:
    static constexpr uint32_t kKernel = 1u << 31;

    struct Cpu {
        std::vector<uint64_t> units;
        uint32_t records = 0;
        uint64_t first_ticks = 0;
        uint64_t chunks = 0;
        uint64_t drained = 0;
        uint64_t lost[8] = {};
        uint64_t lost_sum = 0;
        uint64_t lost_before = 0, left_out_before = 0;
    };

    void put(const void *data, size_t bytes);
    void file_header();
    void put_chunk(nslice_chunk_header header, const void *payload, size_t bytes);
    void flush(uint32_t number, Cpu &cpu);
    void put_site(unsigned chunk_kind, nslice_file_site site, const std::string &name,
                  const std::string &file);
    uint32_t add_rows(bool is_kernel, std::string &payload) const;

    std::string memory_;
    Out out_;
    uint64_t written_bytes_ = 0;
    size_t chunk_bytes_ = NSLICE_MAX_PAYLOAD_BYTES;
    std::map<uint32_t, Cpu> cpus_;
    Cpu *last_ = nullptr;
    uint32_t last_number_ = 0;
    std::map<unsigned, uint64_t> sequences_; // of the other chunk kinds
    uint64_t left_out_ = 0;
    uint16_t last_slice_ = 0;
    uint16_t last_kernel_slice_ = NSLICE_KERNEL_FIRST_ID - 1;
    bool has_kernel_totals_ = true;
    bool tells_chunks_ = true;
    uint64_t end_calibration_offset_ = 0;
};

// INFO lines of a plain session: TSC at `hz`, with the named counters (comma-separated, may be
// empty).
std::string plain_info(double hz = 1e9, const std::string &counters = "");
// A calibration entry; `kind` is START for the pair.
nslice_calibration_entry entry(unsigned kind, unsigned field, double inner, double outer,
                               double ci95 = 0, uint32_t cpu = NSLICE_ANY_CPU);
} // namespace test_support
