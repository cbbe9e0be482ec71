// SPDX-License-Identifier: MIT
// Read-ahead: the next pieces of a large source, read while the packets of earlier pieces are
// processed.
#include "drivers/bytes/read_ahead.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include <sched.h>

namespace mapi::drivers
{
namespace
{
// With less data a thread costs more than it gains; unpacking takes ten times as long as reading.
constexpr uint64_t kLeastBytes =
    uint64_t(3) * ReadAheadPolicy::kPiecesBeforeHelp * ReadAhead::kPieceBytes;
constexpr uint64_t kLeastPackedBytes = uint64_t(1) << 20;

using Clock = std::chrono::steady_clock;

// How long the thread stays awake when all slots are full: at most about the cost of waking a
// thread on a virtual machine, and at most three times the time to read a piece.  A caller that
// takes longer for a piece would save less than a third of its time, and the thread would spin for
// longer than that on another processor.
constexpr Clock::duration kLongestAwake = std::chrono::microseconds(30);
constexpr int kAwakeOfReading = 3;
constexpr int kReadingWeight = 8; // divisor of the moving average of reading times
// Pieces after which a sleeping thread is tried again.  Reading a piece costs the caller less than
// waking the thread; unpacking one costs more.
constexpr uint32_t kPatience = 32;
constexpr uint32_t kPackedPatience = 2;

constexpr size_t kSlotBytes =
    ReadAhead::kRoomBytes + PageBuffer::kPageBytes + ReadAhead::kPieceBytes;

// The affinity of this thread, which the other thread inherits.
bool has_second_processor()
{
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof(processors), &processors) == 0 && CPU_COUNT(&processors) > 1;
}
} // namespace

const size_t ReadAhead::kMemoryBytes = kSlots * (kSlotBytes + sizeof(PieceIndex));

std::unique_ptr<ReadAhead> ReadAhead::start(ByteSource &source, uint64_t position,
                                            PieceIndexing indexing)
{
    if (source.rest_bytes() < (source.has_offsets() ? kLeastBytes : kLeastPackedBytes) ||
        !has_second_processor())
        return nullptr;
    try {
        return std::unique_ptr<ReadAhead>(new ReadAhead(source, position, std::move(indexing)));
    } catch (const std::bad_alloc &) {
    } catch (const std::system_error &) {
    }
    return nullptr;
}

ReadAhead::ReadAhead(ByteSource &source, uint64_t position, PieceIndexing indexing)
    : source_(source), has_offsets_(source.has_offsets()), position_(position),
      memory_(kSlots * kSlotBytes), indexing_(std::move(indexing)),
      indices_(indexing_.format && has_offsets_ ? new PieceIndex[kSlots] : nullptr),
      is_resting_(has_offsets_), reading_(kLongestAwake), thread_([this] { run(); })
{
}

ReadAhead::~ReadAhead()
{
    is_stopping_.store(true);
    wake();
    thread_.join();
}

// At the same offset in a page as in the file; FileBuffer::place() explains why.
uint8_t *ReadAhead::memory_of(uint32_t slot)
{
    return memory_.data() + slot * kSlotBytes + kRoomBytes + position_ % PageBuffer::kPageBytes;
}

// Data read by the thread is in its processor's cache.  Packet headers form a chain: without
// prefetching the caller would wait for each header's cache line in turn.
void ReadAhead::fetch(const uint8_t *piece, size_t bytes)
{
    constexpr size_t kLineBytes = 64;
    constexpr int kSecondLevel = 2;
    for (size_t at = 0; at < bytes; at += kLineBytes)
        __builtin_prefetch(piece + at, 0, kSecondLevel);
}

ReadAhead::Piece ReadAhead::take()
{
    if (has_short_)
        return {};
    Place &place = places_[next_ % kPlaces];
    // Pairs with read(): the piece is complete.
    for (uint32_t end_piece;
         (end_piece = place.end_piece.load(std::memory_order_acquire)) != next_ + 1;) {
        if (!has_offsets_ ||
            !claim_and_read({slots_, kCallerSlots}, released_.load(std::memory_order_relaxed)))
            place.end_piece.wait(end_piece, std::memory_order_acquire);
    }
    const Slot &slot = slots_[place.slot];
    const bool is_own = place.slot < kCallerSlots;
    const PieceIndex *const index = is_own || !indices_ ? nullptr : take_index(next_);
    ++next_;
    has_short_ = slot.bytes < kPieceBytes;
    rest_bytes_ = slot.source_rest_bytes;
    if (has_offsets_)
        source_.skip_to(position_ + uint64_t(next_ - 1) * kPieceBytes + slot.bytes);
    if (!is_own && !(index && index->is_prefiltered() && indexing_.prefilter->reads_passed_only()))
        fetch(memory_of(place.slot), slot.bytes);
    return {memory_of(place.slot), slot.bytes, index};
}

// The thread may be indexing this piece, or be about to: the caller reads another piece meanwhile.
const PieceIndex *ReadAhead::take_index(uint32_t piece)
{
    Place &place = places_[piece % kPlaces];
    uint64_t stage = place.stage.load(std::memory_order_acquire);
    if (stage == marked(piece, Stage::kIndexing) ||
        (stage == marked(piece, Stage::kRead) && knows_first_record(piece)))
        claim_and_read({slots_, kCallerSlots}, released_.load(std::memory_order_relaxed));
    stage = marked(piece, Stage::kRead);
    if (place.stage.compare_exchange_strong(stage, marked(piece, Stage::kTaken),
                                            std::memory_order_acquire))
        return nullptr;
    for (; stage == marked(piece, Stage::kIndexing);
         stage = place.stage.load(std::memory_order_acquire))
        place.stage.wait(stage, std::memory_order_acquire);
    const PieceIndex &index = indices_[place.slot];
    return index.count() > 0 ? &index : nullptr;
}

const PieceIndex *ReadAhead::index_from(const uint8_t *record)
{
    if (!indices_ || is_resting_.load(std::memory_order_relaxed) || next_ == 0)
        return nullptr;
    const uint32_t slot = places_[(next_ - 1) % kPlaces].slot;
    const uint8_t *const begin = memory_of(slot);
    if (record < begin - kRoomBytes || record > begin + slots_[slot].bytes)
        return nullptr;
    const PieceIndex &index = index_slot(slot, next_ - 1, record);
    return index.count() > 0 ? &index : nullptr;
}

// Also publishes the offset of the first record in the next piece.
PieceIndex &ReadAhead::index_slot(uint32_t slot, uint32_t piece, const uint8_t *record)
{
    PieceIndex &index = indices_[slot];
    const uint8_t *const end = memory_of(slot) + slots_[slot].bytes;
    index.clear(record);
    indexing_.format->index(record, end, index);
    const size_t offset = indexing_.format->missing_bytes(index.end(), end);
    if (offset < kPieceBytes)
        places_[(piece + 1) % kPlaces].first_record.store(marked(piece + 1, uint32_t(offset)),
                                                          std::memory_order_release);
    return index;
}

bool ReadAhead::knows_first_record(uint32_t piece) const
{
    return places_[piece % kPlaces].first_record.load(std::memory_order_relaxed) >> 32 == piece + 1;
}

void ReadAhead::release_before()
{
    released_.store(next_ - 1); // pairs with run(): the freed piece is no longer read
    if (has_offsets_ && policy_.is_turn()) [[unlikely]]
        keep_pace();
    if (!is_resting_.load(std::memory_order_relaxed))
        wake_if_it_pays();
}

uint64_t ReadAhead::rest_bytes() const
{
    return has_offsets_ || next_ == 0 ? source_.rest_bytes() : rest_bytes_;
}

void ReadAhead::run()
{
    while (!is_stopping_.load()) {
        const uint32_t released = released_.load();
        if (is_resting_.load(std::memory_order_relaxed))
            sleep_while([this] { return is_resting_.load(); });
        else if (!index_next() && !read_timed(released) && !has_work_soon(released))
            sleep_while([this, released] { return released_.load() == released; });
    }
}

bool ReadAhead::read_timed(uint32_t released)
{
    const auto begin = Clock::now();
    if (!claim_and_read({slots_ + kCallerSlots, kThreadSlots}, released))
        return false;
    const auto taken = std::min<Clock::duration>(Clock::now() - begin,
                                                 kLongestAwake); // the thread may be preempted
    reading_ += (taken - reading_) / kReadingWeight;
    return true;
}

bool ReadAhead::has_work_soon(uint32_t released) const
{
    const auto end =
        Clock::now() + std::min<Clock::duration>(kAwakeOfReading * reading_, kLongestAwake);
    while (released_.load(std::memory_order_relaxed) == released &&
           !(has_unindexed() && knows_first_record(oldest_unindexed()))) {
        if (is_ended_.load(std::memory_order_relaxed) || Clock::now() > end)
            return false;
        std::this_thread::yield();
    }
    return true;
}

// Indexes the oldest piece that has no index yet.  False if there is no such piece or the offset of
// its first record is unknown.
bool ReadAhead::index_next()
{
    while (has_unindexed()) {
        const uint32_t piece = oldest_unindexed();
        std::atomic<uint64_t> &stage = places_[piece % kPlaces].stage;
        uint64_t expected = marked(piece, Stage::kRead);
        if (stage.load(std::memory_order_relaxed) == expected && !knows_first_record(piece))
            return false;
        ++unindexed_begin_;
        if (!stage.compare_exchange_strong(expected, marked(piece, Stage::kIndexing),
                                           std::memory_order_relaxed))
            continue; // the caller has taken it without an index
        index(piece);
        stage.store(marked(piece, Stage::kIndexed), std::memory_order_release);
        stage.notify_one();
        return true;
    }
    return false;
}

void ReadAhead::index(uint32_t piece)
{
    const Place &place = places_[piece % kPlaces];
    const size_t first = uint32_t(place.first_record.load(std::memory_order_acquire));
    index_slot(place.slot, piece, memory_of(place.slot) + std::min(first, slots_[place.slot].bytes))
        .prefilter(*indexing_.prefilter);
}

// Sequentially consistent, like release_before(), keep_pace() and the destructor: of a thread that
// falls asleep and a caller that releases, requests help or stops, at least one sees the other.
template <class Condition> void ReadAhead::sleep_while(Condition holds)
{
    is_asleep_.store(true);
    if (holds() && !is_stopping_.load())
        is_asleep_.wait(true);
    is_asleep_.store(false);
}

void ReadAhead::keep_pace()
{
    policy_.turn(uint64_t(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count()));
    if (is_resting_.load() == !policy_.is_helped())
        return;
    is_resting_.store(!policy_.is_helped());
    if (policy_.is_helped())
        wake();
}

void ReadAhead::wake_if_it_pays()
{
    if (!is_asleep_.load()) {
        slept_pieces_ = 0;
    } else if (++slept_pieces_ >= (has_offsets_ ? kPatience : kPackedPatience)) {
        slept_pieces_ = 0;
        wake();
    }
}

void ReadAhead::wake()
{
    is_asleep_.store(false);
    is_asleep_.notify_one();
}

// False if all of the reader's slots are in use, or the source has ended.  If the piece to be taken
// next is not ready, the caller can claim it or it is being read: the previous piece takes one of
// the caller's slots at most, and another slot is free, or all others have later pieces.
bool ReadAhead::claim_and_read(std::span<Slot> own, uint32_t released)
{
    const auto slot = std::find_if(
        own.begin(), own.end(), [released](const Slot &one) { return one.end_piece <= released; });
    if (slot == own.end() || is_ended_.load(std::memory_order_relaxed))
        return false;
    // Acquire and release: the later reader of a Place sees everything that the earlier one did
    // with it.
    read(claimed_.fetch_add(1, std::memory_order_acq_rel), *slot);
    return true;
}

void ReadAhead::read(uint32_t piece, Slot &slot)
{
    const auto number = uint32_t(&slot - slots_);
    uint8_t *const to = memory_of(number);
    const uint64_t offset = position_ + uint64_t(piece) * kPieceBytes;
    size_t bytes = 0;
    try {
        for (size_t got = 1; got > 0 && bytes < kPieceBytes; bytes += got)
            got = has_offsets_ ? source_.read_at(offset + bytes, to + bytes, kPieceBytes - bytes)
                               : source_.read(to + bytes, kPieceBytes - bytes);
    } catch (...) { // the caller gets the error when it reads itself
    }
    slot.end_piece = piece + 1;
    slot.bytes = bytes;
    if (!has_offsets_)
        slot.source_rest_bytes = source_.rest_bytes();
    if (bytes < kPieceBytes)
        is_ended_.store(true, std::memory_order_relaxed);
    Place &place = places_[piece % kPlaces];
    place.slot = number;
    if (indices_ && number >= kCallerSlots) {
        place.stage.store(marked(piece, Stage::kRead), std::memory_order_relaxed);
        unindexed_[unindexed_end_++ % kPlaces] = piece;
    }
    place.end_piece.store(piece + 1, std::memory_order_release);
    place.end_piece.notify_one();
}
} // namespace mapi::drivers
