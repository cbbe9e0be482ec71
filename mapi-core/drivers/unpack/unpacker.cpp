// SPDX-License-Identifier: MIT
// Unpacker: members one after the other, as in concatenated files, and errors for damage.
#include "drivers/unpack/unpacker.hpp"

#include <algorithm>
#include <new>

#include "drivers/capture_error.hpp"

namespace mapi::drivers
{
namespace
{
constexpr size_t kPieceBytes = size_t(64) << 10;
} // namespace

Unpacker::Unpacker(const Compressor &compressor, const std::string &path,
                   std::unique_ptr<ByteSource> packed, std::span<const uint8_t> first_bytes,
                   const mapi_memory *memory)
    : compressor_(compressor), path_(path), packed_(std::move(packed)),
      piece_(first_bytes.begin(), first_bytes.end()), input_{piece_.data(),
                                                             piece_.data() + piece_.size()},
      position_(piece_.size()), claim_(memory)
{
    if (!compressor.make_decoder)
        throw CaptureError(Damage::kOpen,
                           path + ": is compressed with " + compressor.name +
                               ", which this build cannot unpack (unpack it first: " +
                               compressor.unpack_command + " FILE > FILE.unpacked)");
}

bool Unpacker::refill()
{
    piece_.resize(kPieceBytes);
    input_ = {piece_.data(), piece_.data()};
    const size_t got = packed_->read(piece_.data(), piece_.size());
    input_.end += got;
    position_ += got;
    return got > 0;
}

// Members may be padded with zeros: xz allows it, and gzip files on tapes have it.
bool Unpacker::begin_member()
{
    do {
        input_.next = std::find_if(input_.next, input_.end, [](uint8_t byte) { return byte != 0; });
    } while (input_.bytes() == 0 && refill());
    if (input_.bytes() == 0)
        return false;
    decoder_ = compressor_.make_decoder();
    return true;
}

size_t Unpacker::read(uint8_t *to, size_t room_bytes)
{
    if (damage_)
        std::rethrow_exception(damage_);
    Room room = {to, to + room_bytes};
    while (room.next == to) {
        if (!decoder_ && !begin_member())
            return 0;
        const uint8_t *const before = input_.next;
        step(room);
        const bool is_stuck = decoder_ && room.next == to && input_.next == before;
        if (is_stuck && (input_.bytes() > 0 || !refill()))
            fail_at_end();
    }
    return size_t(room.next - to);
}

void Unpacker::step(Room &room)
{
    const uint8_t *const begin = room.next;
    try {
        if (decoder_->step(input_, room))
            decoder_.reset();
        claim_memory();
        return;
    } catch (const CaptureError &) {
        damage_ = std::current_exception();
    } catch (const TooMuchMemory &error) {
        damage_ = std::make_exception_ptr(CaptureError(
            Damage::kInput, place() + error.what() + " (unpack it first: " +
                                compressor_.unpack_command + " FILE > FILE.unpacked)"));
    } catch (const std::bad_alloc &) {
        damage_ = std::make_exception_ptr(CaptureError(
            Damage::kInput, place() + "out of memory (unpack it first: " +
                                compressor_.unpack_command + " FILE > FILE.unpacked)"));
    } catch (const std::runtime_error &error) {
        damage_ = std::make_exception_ptr(
            CaptureError(Damage::kRecord,
                         place() + "the file is damaged: " + error.what() + " (copy it again)"));
    }
    if (room.next == begin)
        std::rethrow_exception(damage_);
}

// A decoder knows its memory size only after a header; by then it has allocated the memory, but not
// touched it.
void Unpacker::claim_memory()
{
    const uint64_t bytes = decoder_ ? decoder_->memory_bytes() : 0;
    if (claim_.resize(bytes))
        return;
    decoder_.reset();
    throw claim_.refusal(place(), bytes);
}

void Unpacker::fail_at_end()
{
    damage_ = std::make_exception_ptr(CaptureError(
        Damage::kTruncated, place() + "the compressed data is truncated (copy the file again)"));
    std::rethrow_exception(damage_);
}

// The start of a message.
std::string Unpacker::place() const
{
    return path_ + ": " + compressor_.name + ", offset " +
           std::to_string(position_ - input_.bytes()) + " of the compressed file: ";
}

bool Unpacker::rewind()
{
    if (!packed_->rewind())
        return false;
    input_ = {};
    position_ = 0;
    decoder_.reset();
    damage_ = nullptr;
    return true;
}
} // namespace mapi::drivers
