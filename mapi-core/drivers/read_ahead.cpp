// SPDX-License-Identifier: MIT
// Read-ahead: the pieces of a large source that come next, read while the packets of those before are gone through.
#include "drivers/read_ahead.hpp"

#include <chrono>
#include <new>
#include <system_error>

#include <sched.h>

namespace mapi::drivers
{
namespace
{
// Below these a thread costs more than it gains; unpacking takes ten times as long as reading.
constexpr uint64_t kLeastBytes = uint64_t(8) << 20;
constexpr uint64_t kLeastPackedBytes = uint64_t(1) << 20;

// What waking a thread costs on a virtual machine, about: so long the thread stays awake when all slots are full.
constexpr std::chrono::microseconds kAwake(30);
// Pieces after which a sleeping thread is tried again.  Reading a piece costs its caller less than waking somebody for it; unpacking costs more.
constexpr uint32_t kPatience = 32;
constexpr uint32_t kPackedPatience = 2;

constexpr size_t kSlotBytes = ReadAhead::kRoomBytes + PageBuffer::kPageBytes + ReadAhead::kPieceBytes;

// Of this thread, from which the other inherits them.
bool has_second_processor()
{
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof(processors), &processors) == 0 && CPU_COUNT(&processors) > 1;
}
} // namespace

const size_t ReadAhead::kMemoryBytes = kSlots * kSlotBytes;

std::unique_ptr<ReadAhead> ReadAhead::start(ByteSource &source, uint64_t position)
{
    if (source.rest_bytes() < (source.has_offsets() ? kLeastBytes : kLeastPackedBytes) || !has_second_processor())
        return nullptr;
    try {
        return std::unique_ptr<ReadAhead>(new ReadAhead(source, position));
    } catch (const std::bad_alloc &) {
    } catch (const std::system_error &) {
    }
    return nullptr;
}

ReadAhead::ReadAhead(ByteSource &source, uint64_t position)
    : source_(source), has_offsets_(source.has_offsets()), position_(position), memory_(kSlots * kSlotBytes), thread_([this] { run(); })
{
}

ReadAhead::~ReadAhead()
{
    is_stopping_.store(true);
    wake();
    thread_.join();
}

// At the same place in a page as in the file: FileBuffer::place() says why.
uint8_t *ReadAhead::memory_of(uint32_t piece)
{
    return memory_.data() + piece % kSlots * kSlotBytes + kRoomBytes + position_ % PageBuffer::kPageBytes;
}

uint8_t *ReadAhead::place()
{
    return memory_of(next_);
}

size_t ReadAhead::next()
{
    released_.store(next_); // pairs with run(): nothing reads the freed piece any more
    wake_if_it_pays();
    if (has_short_)
        return 0;
    Slot &slot = slots_[next_ % kSlots];
    // Pairs with read(): the piece is whole.
    for (uint32_t pieces; (pieces = slot.pieces.load(std::memory_order_acquire)) != next_ + 1;) {
        if (!has_offsets_ || !claim_and_read(next_))
            slot.pieces.wait(pieces, std::memory_order_acquire);
    }
    ++next_;
    has_short_ = slot.bytes < kPieceBytes;
    if (has_offsets_)
        source_.skip_to(position_ + uint64_t(next_ - 1) * kPieceBytes + slot.bytes);
    return slot.bytes;
}

uint64_t ReadAhead::rest_bytes() const
{
    return has_offsets_ || next_ == 0 ? source_.rest_bytes() : slots_[(next_ - 1) % kSlots].source_rest_bytes;
}

void ReadAhead::run()
{
    while (!is_stopping_.load()) {
        const uint32_t released = released_.load();
        if (!claim_and_read(released) && !is_released_soon(released))
            sleep(released);
    }
}

bool ReadAhead::is_released_soon(uint32_t released) const
{
    const auto end = std::chrono::steady_clock::now() + kAwake;
    while (released_.load(std::memory_order_relaxed) == released) {
        if (is_ended_.load(std::memory_order_relaxed) || std::chrono::steady_clock::now() > end)
            return false;
        std::this_thread::yield();
    }
    return true;
}

// Sequentially consistent, as next() and the destructor are: of a thread that falls asleep and a caller that releases or stops, one sees the other.
void ReadAhead::sleep(uint32_t released)
{
    is_asleep_.store(true);
    if (released_.load() == released && !is_stopping_.load())
        is_asleep_.wait(true);
    is_asleep_.store(false);
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

// False: all slots are in use, or the source has ended.
bool ReadAhead::claim_and_read(uint32_t released)
{
    uint32_t piece = claimed_.load(std::memory_order_relaxed);
    do {
        if (piece - released >= kSlots || is_ended_.load(std::memory_order_relaxed))
            return false;
    } while (!claimed_.compare_exchange_weak(piece, piece + 1, std::memory_order_acq_rel, std::memory_order_relaxed));
    read(piece);
    return true;
}

void ReadAhead::read(uint32_t piece)
{
    Slot &slot = slots_[piece % kSlots];
    uint8_t *const to = memory_of(piece);
    const uint64_t offset = position_ + uint64_t(piece) * kPieceBytes;
    size_t bytes = 0;
    try {
        for (size_t got = 1; got > 0 && bytes < kPieceBytes; bytes += got)
            got = has_offsets_ ? source_.read_at(offset + bytes, to + bytes, kPieceBytes - bytes) : source_.read(to + bytes, kPieceBytes - bytes);
    } catch (...) { // the caller's own reading meets it again
    }
    slot.bytes = bytes;
    if (!has_offsets_)
        slot.source_rest_bytes = source_.rest_bytes();
    if (bytes < kPieceBytes)
        is_ended_.store(true, std::memory_order_relaxed);
    slot.pieces.store(piece + 1, std::memory_order_release);
    slot.pieces.notify_one();
}
} // namespace mapi::drivers
