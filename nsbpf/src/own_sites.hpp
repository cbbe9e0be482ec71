// SPDX-License-Identifier: MIT
// Own sites: which records the programs of a ring may write.
#pragma once

#include <cstdint>
#include <vector>

#include <nslice/record.h>

namespace nsbpf
{
// Sites of the programs that share a ring.
class OwnSites
{
public:
    // Ids are not lower than `first`.
    explicit OwnSites(uint16_t first) : first_(first) {}

    // bits: the second word of the site's records, without the thread.
    void add(uint64_t bits)
    {
        const size_t place = id_of(bits) - first_;
        if (place >= heads_.size())
            heads_.resize(place + 1);
        heads_[place] = head_of(bits);
    }
    // Whether a record with this second word has the id, kind and length of one of them.
    bool has(uint64_t second) const
    {
        const size_t place = size_t{id_of(second)} - first_; // far too large below the first
        return place < heads_.size() && heads_[place] != 0 && heads_[place] == head_of(second);
    }

private:
    static uint16_t id_of(uint64_t second) { return uint16_t(second >> NSLICE_HEAD_SLICE_SHIFT); }
    static uint32_t head_of(uint64_t second) { return uint32_t(second >> NSLICE_HEAD_SLICE_SHIFT); }

    const uint16_t first_;
    std::vector<uint32_t> heads_; // by id: its id, kind and number of words; 0: not their own
};
} // namespace nsbpf
