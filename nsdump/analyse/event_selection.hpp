// SPDX-License-Identifier: MIT
// analyse: a unit's number and a name -> which events, slices and STOPs of a trace they select.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "analyse/pair/slice.hpp"
#include "analyse/unit_filter.hpp"
#include "decode/merge.hpp"

namespace nsdump
{
class EventSelection
{
public:
    // Without a number all units, with an empty text all names.
    EventSelection(NameTable &names, std::optional<uint64_t> unit, std::string text)
        : names_(names), unit_(unit), text_(std::move(text))
    {
        if (unit)
            filter_.emplace(*unit);
    }

    struct Seen {
        NameId name;
        bool is_kernel; // see is_kernels_own()
        bool is_selected;
    };
    // To be called for all events, in their order, since it follows where units begin and end.
    Seen see(const Run &run, const Event &event)
    {
        if (run.is_after_pause && filter_ && &event == run.events.data()) [[unlikely]]
            filter_->forget();
        const NameId name = names_.of_slice(event.slice_id);
        const bool is_kernel = is_kernels_own(run.is_kernel, names_[name]);
        const bool is_in_unit = !filter_ || filter_->contains(event, name, is_kernel);
        return {name, is_kernel, is_in_unit && has_name(name)};
    }

    // A slice, or a STOP without START, in this unit; null: in none.
    bool has(NameId name, const Unit *in) const { return is_in_unit(in) && has_name(name); }
    bool is_in_unit(const Unit *in) const { return !unit_ || (in && in->number == *unit_); }
    bool has_name(NameId name) const { return text_.empty() || names_[name].text == text_; }
    bool is_by_name() const { return !text_.empty(); }

private:
    NameTable &names_;
    std::optional<uint64_t> unit_;
    std::optional<UnitFilter> filter_;
    std::string text_;
};
} // namespace nsdump
