// SPDX-License-Identifier: MIT
// analyse: event -> is it inside the unit with a given number?
#pragma once

#include <cstdint>
#include <unordered_map>

#include "decode/event.hpp"
#include "decode/names.hpp"

namespace nsdump
{
// Holds only the threads that are currently in the selected unit, so its memory does not grow with
// the trace.
class UnitFilter
{
public:
    explicit UnitFilter(uint64_t number) : number_(number) {}

    // After a pause, whose records may have ended the unit in any thread.
    void forget() { inside_.clear(); }
    // Whether a thread is in the unit now.
    bool is_inside() const { return !inside_.empty(); }

    // INIT and EXIT belong to the unit.  `name` is the event's.
    bool contains(const Event &event, NameId name, bool is_kernel)
    {
        const uint64_t stack = stack_of(event, is_kernel);
        const auto found = inside_.find(stack);
        if (event.kind == NSLICE_KIND_INIT && event.word_count >= NSLICE_INIT_WORDS &&
            event.words[0] == number_ && found == inside_.end()) {
            inside_[stack] = name;
            return true;
        }
        if (found == inside_.end())
            return false;
        if (event.kind == NSLICE_KIND_INIT && event.word_count >= NSLICE_INIT_WORDS &&
            name == found->second && event.words[0] != number_) {
            inside_.erase(found); // next unit of the same name: the EXIT was lost
            return false;
        }
        if (event.kind == NSLICE_KIND_EXIT && name == found->second)
            inside_.erase(found); // an EXIT of another name belongs to a nested unit
        return true;
    }

private:
    uint64_t number_;
    std::unordered_map<uint64_t, NameId> inside_; // by stack: name of the unit
};
} // namespace nsdump
