// SPDX-License-Identifier: MIT
// decode: site table -> dense numbers for names; slices are paired by name, and sites may share
// one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "decode/trace_parts.hpp"

namespace nsdump
{
using NameId = uint32_t;

// Ways by which slices are recorded other than by macros: by uprobes, and two that sites of
// programs have.
inline constexpr unsigned kKernelWays = 3, kWays = 5;

struct Name {
    std::string text;
    std::string file; // of the first site with this name that is not a STOP or EXIT
    uint32_t line = 0;
    uint8_t flags = 0;       // NSLICE_SITE_*
    uint8_t way = 0;         // 0: macros; otherwise 1 + index of the way, below kWays
    bool is_unknown = false; // no site has this name
    uint16_t kinds = 0;      // bit by enum nslice_kind: kinds of its sites

    bool is_slice_or_mark() const
    {
        return kinds & (1 << NSLICE_KIND_START | 1 << NSLICE_KIND_STOP | 1 << NSLICE_KIND_MARK);
    }
};

// Whether what a ring has is the kernel's own: functions of programs, by uprobes, are slices of the
// programs, though their records are in the kernel's rings.
inline bool is_kernels_own(bool is_kernel_ring, const Name &name)
{
    return is_kernel_ring && name.way == 0;
}

// Prefix of the names of kernel sites, so that a program's slice may have the same name.
inline constexpr const char *kKernelPrefix = "kernel:";

class NameTable
{
public:
    static constexpr NameId kNone = ~NameId{0};

    NameTable();

    void add(const Site &site, bool is_kernel = false);
    // As add(), only for the kernel's ids; returns false for others.  The name has the prefix
    // unless it is that of a program's function.
    bool add_kernel(Site site);
    // A slice id without a site gets the name "#<id>".
    NameId of_slice(uint16_t slice_id)
    {
        const NameId id = by_slice_[slice_id];
        return id != kNone ? id : add_unregistered(slice_id);
    }
    // The same for ids that have a site or were passed to of_slice(); kNone for others.
    NameId known(uint16_t slice_id) const { return by_slice_[slice_id]; }
    // The process that announced the id's site; 0 if none did.
    uint32_t pid_of(uint16_t slice_id) const
    {
        return slice_id < pid_by_slice_.size() ? pid_by_slice_[slice_id] : 0;
    }
    // Whether the id's site has NSLICE_SITE_IN_PROGRAM.
    bool is_in_program(uint16_t slice_id) const
    {
        return slice_id < is_in_program_.size() && is_in_program_[slice_id];
    }
    const Name &operator[](NameId id) const { return names_[id]; }
    size_t size() const { return names_.size(); }
    // True for an id without a site.
    bool is_unknown(uint16_t slice_id) const
    {
        return by_slice_[slice_id] == kNone || names_[by_slice_[slice_id]].is_unknown;
    }
    // Whether some slices are not recorded by macros.
    bool has_ways() const { return has_ways_; }
    // Whether the kernel's records have functions of programs.
    bool has_functions() const { return has_functions_; }
    // Number of ids without a site that were passed to of_slice(): of programs, or of the kernel.
    uint64_t unknown_ids(bool is_kernel) const { return unknown_ids_[is_kernel]; }

private:
    NameId add_unregistered(uint16_t slice_id);
    NameId find_or_add(const std::string &text);
    static unsigned way_of(const Site &site, bool is_kernel); // as Name::way

    std::vector<NameId> by_slice_; // 65,536 entries, so an id from a record needs no range check
    std::vector<uint32_t> pid_by_slice_; // as long as the highest id needs
    std::vector<bool> is_in_program_;    // the same
    std::vector<Name> names_;
    std::map<std::string, NameId> by_text_;
    std::array<uint64_t, 2> unknown_ids_{};
    bool has_ways_ = false, has_functions_ = false;
};
} // namespace nsdump
