// SPDX-License-Identifier: MIT
// A ring in memory that stands for the programs' map, its writer, and what drains it.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/cpu_records.hpp"
#include "support/catch.hpp"

namespace nsbpf_test
{
constexpr uint64_t kDataBytes = 4096, kWords = kDataBytes / NSLICE_WORD_BYTES;
constexpr uint64_t kMark = uint64_t{NSLICE_KIND_MARK} << NSLICE_HEAD_KIND_SHIFT |
                           uint64_t{NSLICE_MARK_WORDS} << NSLICE_HEAD_COUNT_SHIFT;
constexpr uint16_t kId = 0; // of its slice
constexpr uint64_t kBaseNs = 1'000'000'000'000;

struct Chunk {
    nslice_chunk_header header;
    std::vector<uint64_t> words;
};

// The second of two rings in one map, its writer, and the reader under test.
class Rig
{
public:
    Rig()
    {
        map_ = memfd_create("rings", MFD_CLOEXEC);
        REQUIRE(ftruncate(map_, 2 * off_t(kStride)) == 0);
        memory_ = static_cast<char *>(
            mmap(nullptr, 2 * kStride, PROT_READ | PROT_WRITE, MAP_SHARED, map_, 0));
        REQUIRE(memory_ != MAP_FAILED);
        ring = reinterpret_cast<nslice_ring_meta *>(memory_ + kStride);
        reader = std::make_unique<nsbpf::MappedRing>(map_, 1, kDataBytes, kStride);
        records.add(*reader);
        for (uint64_t i = 0; i < 4; ++i) // two ticks per ns
            line.add({2 * i * 1000, kBaseNs + i * 1000, 1});
        fcntl(pipe.reader(), F_SETFL, O_NONBLOCK);
    }
    ~Rig()
    {
        reader.reset();
        munmap(memory_, 2 * kStride);
        close(map_);
    }
    Rig(const Rig &) = delete;
    Rig &operator=(const Rig &) = delete;

    // A MARK; false: there was no room.
    bool write(uint64_t value, uint64_t time_ns = kBaseNs, bool is_complete = true)
    {
        constexpr uint32_t words = NSLICE_HEAD_WORDS + NSLICE_MARK_WORDS;
        if (NSLICE_POSITION_WORDS(ring->head - ring->tail) + words > kWords) {
            ++ring->lost[NSLICE_LOST_FULL];
            return false;
        }
        const uint64_t at = ring->head;
        ring->head += NSLICE_POSITION_STEP(words);
        word(at) = time_ns;
        word(at + 2) = value;
        if (is_complete)
            word(at + 1) = kMark | 77;
        return true;
    }
    // Of the newest MARK's head.
    uint64_t &second_of_newest() { return word(ring->head - NSLICE_MARK_WORDS - 1); }
    void complete_at(uint64_t position) { word(position + 1) = kMark | 77; }
    void take_all() { records.flush(pipe, line); }
    std::vector<Chunk> chunks()
    {
        std::vector<Chunk> all;
        Chunk chunk;
        while (read(pipe.reader(), &chunk.header, sizeof(chunk.header)) == sizeof(chunk.header)) {
            chunk.words.resize(chunk.header.payload_bytes / NSLICE_WORD_BYTES);
            REQUIRE(read(pipe.reader(), chunk.words.data(), chunk.header.payload_bytes) ==
                    ssize_t(chunk.header.payload_bytes));
            all.push_back(chunk);
        }
        return all;
    }

    nslice_ring_meta *ring;
    std::unique_ptr<nsbpf::MappedRing> reader;
    nsbpf::CpuRecords records{1};
    nsbpf::ChunkPipe pipe;
    nsbpf::ClockLine line;

private:
    static constexpr uint64_t kStride = NSLICE_RING_META_BYTES + kDataBytes;

    uint64_t &word(uint64_t position)
    {
        return reinterpret_cast<uint64_t *>(
            memory_ + kStride + NSLICE_RING_META_BYTES)[uint32_t(position) & (kWords - 1)];
    }

    int map_;
    char *memory_;
};

inline uint64_t lost_sum(const nslice_file_footer_cpu &row)
{
    uint64_t sum = 0;
    for (const uint64_t lost : row.lost)
        sum += lost;
    return sum;
}
} // namespace nsbpf_test
