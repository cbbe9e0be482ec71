// SPDX-License-Identifier: MIT
// Unpacker: a compressed file -> the unpacked bytes, piece by piece, with memory use that does not
// depend on the file's size.
#pragma once

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drivers/bytes/byte_source.hpp"
#include "drivers/bytes/memory_quota_use.hpp"
#include "drivers/unpack/compressor.hpp"

namespace mapi::drivers
{
class Unpacker : public ByteSource
{
public:
    // `first_bytes` were already read from `packed`; memory: as for MemoryQuotaUse.  Throws
    // CaptureError if this build has no decoder.
    Unpacker(const Compressor &compressor, const std::string &path,
             std::unique_ptr<ByteSource> packed, std::span<const uint8_t> first_bytes,
             const mapi_memory *memory = nullptr);

    size_t read(uint8_t *to, size_t room) override;
    bool rewind() override;
    void interrupt() override { packed_->interrupt(); }
    bool is_open_ended() const override { return true; }
    // Packed bytes, since the number of unpacked bytes is unknown.
    uint64_t rest_bytes() const override { return packed_->rest_bytes() + input_.bytes(); }
    const char *offset_remark() const override { return " of the unpacked data"; }

private:
    // False at the end of the file.
    bool refill();
    // False if there is no other member.
    bool begin_member();
    void step(Room &room);
    void claim_memory();
    [[noreturn]] void fail_at_end();
    std::string place() const;

    const Compressor &compressor_;
    const std::string path_;
    const std::unique_ptr<ByteSource> packed_;
    std::vector<uint8_t> piece_;       // of the packed file
    PackedBytes input_ = {};           // its rest
    uint64_t position_ = 0;            // of input_.end in the file
    MemoryQuotaUse claim_;             // of decoder_
    std::unique_ptr<Decoder> decoder_; // null between members
    std::exception_ptr damage_;        // thrown by every later read
};
} // namespace mapi::drivers
