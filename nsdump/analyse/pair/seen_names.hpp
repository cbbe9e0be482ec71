// SPDX-License-Identifier: MIT
// analyse: the names that ran in a unit, so that its packets are counted once for each of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "decode/names.hpp"

namespace nsdump
{
// The first names of a trace have places of their own, the others share a table with open
// addressing: a unit may hold as many names as a trace has.
class SeenNames
{
public:
    bool has_places() const { return !places_.empty(); }
    void clear()
    {
        few_ = {};
        count_ = 0;
        if (++age_ == 1u << kAgeBits) { // entries of very old units would look current
            places_.clear();
            age_ = 1;
        }
    }
    // Adds `fields` for a name; returns those that are new.
    uint8_t note(NameId name, uint8_t fields)
    {
        if (name >= kFew)
            return note_in_table(name, fields);
        const auto fresh = uint8_t(fields & ~few_[name]);
        few_[name] |= fields;
        return fresh;
    }

private:
    static constexpr NameId kFew = 64;
    static constexpr unsigned kAgeBits = 24;

    struct Place { // eight to a cache line
        NameId name = 0;
        uint32_t age : kAgeBits = 0;
        uint32_t fields : 8 = 0;
    };

    uint8_t note_in_table(NameId name, uint8_t fields)
    {
        if (2 * count_ >= places_.size()) [[unlikely]]
            grow();
        Place &place = find(name);
        if (place.age != age_) {
            place = {name, age_, 0};
            ++count_;
        }
        const auto fresh = uint8_t(fields & ~place.fields);
        place.fields |= fields;
        return fresh;
    }
    // The entry of the name, or the free one where it belongs.  There is always a free one.
    Place &find(NameId name)
    {
        const size_t mask = places_.size() - 1;
        const uint32_t hash = name * 2654435761u;
        size_t at = hash & mask;
        while (places_[at].age == age_ && places_[at].name != name)
            at = (at + 1) & mask;
        return places_[at];
    }
    void grow()
    {
        std::vector<Place> before(std::max<size_t>(2 * places_.size(), 16));
        before.swap(places_);
        for (const Place &place : before)
            if (place.age == age_)
                find(place.name) = place;
    }

    std::array<uint8_t, kFew> few_{}; // fields, by name
    std::vector<Place> places_;       // size is a power of two
    size_t count_ = 0;                // of this unit's names in the table
    uint32_t age_ = 1;
};
} // namespace nsdump
