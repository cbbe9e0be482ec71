// SPDX-License-Identifier: MIT
// cli: events -> is this one inside the unit with a certain number?
#pragma once

#include <cstdint>
#include <unordered_set>

#include "decode/event.hpp"

namespace nsdump
{
// Holds only the threads that are in the wanted unit now, so its memory does not grow with the trace.
class UnitFilter
{
public:
    explicit UnitFilter(std::uint64_t number) : number_(number) {}

    // INIT and EXIT belong to the unit.
    bool contains(const Event &event)
    {
        if (event.kind == NSLICE_KIND_INIT && event.word_count >= NSLICE_INIT_WORDS) {
            if (event.words[0] == number_) {
                inside_.insert(event.thread_id);
                return true;
            }
            // Another unit on this thread: a nested one when the outer is still to end, else its EXIT was lost.
            return inside_.count(event.thread_id) > 0;
        }
        if (event.kind == NSLICE_KIND_EXIT)
            return inside_.erase(event.thread_id) > 0;
        return inside_.count(event.thread_id) > 0;
    }

private:
    std::uint64_t number_;
    std::unordered_set<std::uint32_t> inside_;
};
} // namespace nsdump
