// SPDX-License-Identifier: MIT
// Up to 64 packets, each ending where readable memory ends, so that a load beyond the captured
// bytes crashes.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include <mapi/packet.h>

namespace match_test
{
class GuardedPackets
{
public:
    GuardedPackets() : page_bytes_(size_t(sysconf(_SC_PAGESIZE))), slot_bytes_(page_bytes_ * 17)
    {
        void *memory = mmap(nullptr, slot_bytes_ * MAPI_BATCH_MAX, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            throw std::bad_alloc();
        memory_ = static_cast<uint8_t *>(memory);
        for (size_t slot = 0; slot < MAPI_BATCH_MAX; ++slot)
            mprotect(end_of(slot), page_bytes_, PROT_NONE);
    }
    ~GuardedPackets() { munmap(memory_, slot_bytes_ * MAPI_BATCH_MAX); }
    GuardedPackets(const GuardedPackets &) = delete;
    GuardedPackets &operator=(const GuardedPackets &) = delete;

    void clear() { views_.clear(); }
    bool is_full() const { return views_.size() == MAPI_BATCH_MAX; }
    void add(std::span<const uint8_t> bytes, uint32_t wire_bytes)
    {
        uint8_t *data = end_of(views_.size()) - bytes.size();
        if (!bytes.empty())
            std::memcpy(data, bytes.data(), bytes.size());
        mapi_packet view{};
        view.data = data;
        view.caplen = uint32_t(bytes.size());
        view.wire_len = wire_bytes;
        views_.push_back(view);
    }

    const mapi_packet *views() const { return views_.data(); }
    size_t count() const { return views_.size(); }
    uint64_t all() const { return is_full() ? ~uint64_t{0} : (uint64_t{1} << views_.size()) - 1; }
    const mapi_packet &operator[](size_t index) const { return views_[index]; }

    size_t largest_bytes() const { return slot_bytes_ - page_bytes_; }

private:
    uint8_t *end_of(size_t slot) const
    {
        return memory_ + slot * slot_bytes_ + slot_bytes_ - page_bytes_;
    }

    size_t page_bytes_;
    size_t slot_bytes_;
    uint8_t *memory_;
    std::vector<mapi_packet> views_;
};
} // namespace match_test
