// SPDX-License-Identifier: MIT
// Mapped ring: as the drains of libnsprobe and nsmod, with times converted on the way.  What the
// memory says about positions and lengths is checked: it belongs to somebody's programs.
#include "mapped_ring.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <nslice/span.h>
#include <sys/mman.h>

#include "nsbpf/recorder.hpp"

namespace nsbpf
{
namespace
{
constexpr uint32_t kChunkWords = NSLICE_MAX_PAYLOAD_BYTES / NSLICE_WORD_BYTES;
constexpr uint64_t kMostLost = 1ull << 48; // no program loses as many

[[noreturn]] void fail(uint32_t cpu)
{
    const int number = errno;
    throw Refusal("kernel: the ring of CPU " + std::to_string(cpu) +
                      " cannot be mapped: " + std::strerror(number),
                  number);
}
} // namespace

MappedRing::MappedRing(int map, uint32_t cpu, uint64_t data_bytes, uint64_t first_byte)
    : cpu_(cpu), data_bytes_(data_bytes)
{
    const size_t once = NSLICE_RING_META_BYTES + data_bytes;
    memory_ = mmap(nullptr, once + data_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED)
        fail(cpu);
    char *const place = static_cast<char *>(memory_);
    constexpr int kBoth = PROT_READ | PROT_WRITE;
    if (mmap(place, once, kBoth, MAP_SHARED | MAP_FIXED, map, off_t(first_byte)) == MAP_FAILED ||
        mmap(place + once, data_bytes, kBoth, MAP_SHARED | MAP_FIXED, map,
             off_t(first_byte + NSLICE_RING_META_BYTES)) == MAP_FAILED) {
        munmap(memory_, once + data_bytes);
        fail(cpu);
    }
    ring_ = static_cast<nslice_ring_meta *>(memory_);
    // Not 0 if another recorder has drained it before.
    tail_ = head_ = __atomic_load_n(&ring_->tail, __ATOMIC_RELAXED);
}

MappedRing::~MappedRing()
{
    munmap(memory_, NSLICE_RING_META_BYTES + 2 * data_bytes_);
}

void MappedRing::watch()
{
    if (has_ended_ || is_malformed_)
        return;
    // pairs with the claim of a writer: records before the head show by their kind if complete
    const uint64_t head = __atomic_load_n(&ring_->head, __ATOMIC_ACQUIRE);
    const uint32_t words = NSLICE_POSITION_WORDS(head - tail_);
    if (words > data_bytes_ / NSLICE_WORD_BYTES ||
        NSLICE_POSITION_RECORDS(head - tail_) > words / NSLICE_HEAD_WORDS) {
        is_malformed_ = true;
        end();
        return;
    }
    committed_ += NSLICE_POSITION_RECORDS(head - head_);
    head_ = head;
}

bool MappedRing::has_incomplete()
{
    watch();
    const uint32_t words = NSLICE_POSITION_WORDS(head_ - tail_);
    return nslice_span_walk(reinterpret_cast<const __u64 *>(data_at(tail_)), words, words, 1)
               .words < words;
}

void MappedRing::begin()
{
    has_ended_ = is_malformed_;
    watch();
    consume(NSLICE_POSITION_WORDS(head_ - tail_), NSLICE_POSITION_RECORDS(head_ - tail_));
    committed_ = drained_ = 0;
    for (int cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
        lost_earlier_[cause] = __atomic_load_n(&ring_->lost[cause], __ATOMIC_RELAXED);
}

void MappedRing::end()
{
    if (!is_malformed_)
        watch();
    if (has_ended_)
        return;
    for (int cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
        lost_at_end_[cause] = lost(cause);
    has_ended_ = true;
}

uint64_t MappedRing::lost(int cause) const
{
    if (has_ended_)
        return lost_at_end_[cause];
    const uint64_t lost =
        __atomic_load_n(&ring_->lost[cause], __ATOMIC_RELAXED) - lost_earlier_[cause];
    return lost < kMostLost ? lost : 0; // a program has overwritten the count
}

uint64_t MappedRing::refused() const
{
    uint64_t sum = 0;
    for (int cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
        sum += lost(cause);
    return sum;
}

const uint64_t *MappedRing::data_at(uint64_t position) const
{
    const uint64_t words = data_bytes_ / NSLICE_WORD_BYTES;
    return reinterpret_cast<const uint64_t *>(static_cast<const char *>(memory_) +
                                              NSLICE_RING_META_BYTES) +
           (uint32_t(position) & (words - 1));
}

void MappedRing::consume(uint32_t words, uint32_t records)
{
    memset(const_cast<uint64_t *>(data_at(tail_)), 0, size_t(words) * NSLICE_WORD_BYTES);
    tail_ += (uint64_t(records) << 32) + words;
    // pairs with the reading of the tail by a writer: the room before it is zero
    __atomic_store_n(&ring_->tail, tail_, __ATOMIC_RELEASE);
}

void MappedRing::drop_foreign(Piece &piece) const
{
    uint32_t kept = 0, records = 0, words = 0;
    for (uint32_t at = 0; at + 1 < piece.words.size(); at += words) {
        words = NSLICE_RECORD_WORDS(piece.words[at + 1]);
        if (!own_->has(piece.words[at + 1]))
            continue;
        std::copy_n(piece.words.begin() + at, words, piece.words.begin() + kept);
        kept += words;
        ++records;
    }
    piece.words.resize(kept);
    piece.records = records;
}

bool MappedRing::take(const ClockLine &clock, Piece &piece)
{
    const uint64_t limit = nslice_gaps_limit(&gaps_, tail_, head_);
    const uint32_t words = std::min(NSLICE_POSITION_WORDS(limit - tail_), kChunkWords);
    const nslice_span span =
        nslice_span_walk(reinterpret_cast<const __u64 *>(data_at(tail_)), words, words, 1);
    if (span.words == 0)
        return false;
    piece.words.assign(data_at(tail_), data_at(tail_) + span.words);
    piece.records = span.records;
    piece.lost_before = gaps_.passed;
    if (own_)
        drop_foreign(piece);
    const uint64_t latest = own_ ? read_ticks() : UINT64_MAX;
    for (uint32_t at = 0; at + 1 < piece.words.size();
         at += NSLICE_RECORD_WORDS(piece.words[at + 1])) {
        // Lines of two passes may differ by a nanosecond, and times must grow within a ring.
        last_ticks_ = std::max(last_ticks_, std::min(latest, clock.ticks_at(piece.words[at])));
        piece.words[at] = last_ticks_;
    }
    const uint64_t head = __atomic_load_n(&ring_->head, __ATOMIC_ACQUIRE);
    consume(span.words, span.records);
    nslice_gaps_note(&gaps_, refused(), head);
    drained_ += piece.records;
    foreign_ += span.records - piece.records;
    return true;
}

std::vector<uint64_t> MappedRing::take_words()
{
    watch();
    const uint32_t words = NSLICE_POSITION_WORDS(head_ - tail_);
    const nslice_span span =
        nslice_span_walk(reinterpret_cast<const __u64 *>(data_at(tail_)), words, words, 1);
    std::vector<uint64_t> taken(data_at(tail_), data_at(tail_) + span.words);
    consume(span.words, span.records);
    drained_ += span.records;
    return taken;
}

void MappedRing::settle()
{
    lost_torn_ += pending();
    tail_ = head_;
}

nslice_file_footer_cpu MappedRing::row() const
{
    nslice_file_footer_cpu row = {};
    row.cpu = cpu_;
    row.drained = drained_;
    for (int cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
        row.lost[cause] = lost(cause);
    row.issued = committed_ + row.lost[NSLICE_LOST_FULL] + row.lost[NSLICE_LOST_BUSY];
    row.lost[NSLICE_LOST_TORN] += lost_torn_ + foreign_;
    return row;
}
} // namespace nsbpf
