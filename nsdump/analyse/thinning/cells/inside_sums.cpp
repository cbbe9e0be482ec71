// SPDX-License-Identifier: MIT
// analyse: sums over slices of the records inside them, by name.
#include "analyse/thinning/cells/inside_sums.hpp"

namespace nsdump
{
size_t InsideSums::slot_of(NameId name) const
{
    const size_t mask = slots_.size() - 1;
    size_t slot = (name * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (slots_[slot] != 0 && sums_[slots_[slot] - 1].name != name)
        slot = (slot + 1) & mask;
    return slot;
}

size_t InsideSums::place_of(NameId name) const
{
    if (!slots_.empty()) {
        const uint32_t found = slots_[slot_of(name)];
        return found != 0 ? found - 1 : sums_.size();
    }
    size_t place = 0;
    while (place < sums_.size() && sums_[place].name != name)
        ++place;
    return place;
}

InsideSum &InsideSums::at(NameId name)
{
    const size_t place = place_of(name);
    if (place < sums_.size())
        return sums_[place];
    sums_.push_back({.name = name});
    if (sums_.size() > kFew && 2 * sums_.size() > slots_.size())
        widen();
    else if (!slots_.empty())
        slots_[slot_of(name)] = uint32_t(sums_.size());
    return sums_.back();
}

const InsideSum *InsideSums::find(NameId name) const
{
    const size_t place = place_of(name);
    return place < sums_.size() ? &sums_[place] : nullptr;
}

void InsideSums::merge(const InsideSums &other)
{
    for (const InsideSum &theirs : other) {
        InsideSum &mine = at(theirs.name);
        mine.pairs += theirs.pairs;
        mine.marks += theirs.marks;
        mine.direct += theirs.direct;
        mine.kept += theirs.kept;
        mine.squares += theirs.squares;
    }
}

void InsideSums::widen()
{
    slots_.assign(slots_.empty() ? 4 * kFew : 2 * slots_.size(), 0);
    for (size_t place = 0; place < sums_.size(); ++place)
        slots_[slot_of(sums_[place].name)] = uint32_t(place + 1);
}
} // namespace nsdump
