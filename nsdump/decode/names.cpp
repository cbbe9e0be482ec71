// SPDX-License-Identifier: MIT
// decode: site table -> dense numbers for the names.
#include "decode/names.hpp"

namespace nsdump
{
NameTable::NameTable() : by_slice_(1u << 16, kNone) {}

NameId NameTable::find_or_add(const std::string &text)
{
    const auto [place, is_new] = by_text_.try_emplace(text, static_cast<NameId>(names_.size()));
    if (is_new)
        names_.emplace_back().text = text;
    return place->second;
}

unsigned NameTable::way_of(const Site &site, bool is_kernel)
{
    const unsigned way = (site.flags & NSLICE_WAY_MASK) >> NSLICE_WAY_SHIFT;
    if (is_kernel)
        return way;
    return way > 0 && way <= kWays - kKernelWays ? kKernelWays + way : 0;
}

void NameTable::add(const Site &site, bool is_kernel)
{
    const NameId id = find_or_add(site.name);
    by_slice_[site.slice_id] = id;
    if (site.slice_id >= pid_by_slice_.size())
        pid_by_slice_.resize(size_t{site.slice_id} + 1);
    pid_by_slice_[site.slice_id] = site.pid;
    if (site.flags & NSLICE_SITE_IN_PROGRAM && site.slice_id >= is_in_program_.size())
        is_in_program_.resize(size_t{site.slice_id} + 1);
    if (site.slice_id < is_in_program_.size())
        is_in_program_[site.slice_id] = (site.flags & NSLICE_SITE_IN_PROGRAM) != 0;
    if (names_[id].file.empty() && site.kind != NSLICE_KIND_STOP && site.kind != NSLICE_KIND_EXIT) {
        names_[id].file = site.file;
        names_[id].line = site.line;
    }
    names_[id].flags |= site.flags;
    if (const unsigned way = way_of(site, is_kernel); way != 0) {
        names_[id].way = uint8_t(way);
        has_ways_ = true;
        has_functions_ |= is_kernel;
    }
    if (site.kind < 16)
        names_[id].kinds |= uint16_t(1u << site.kind);
}

bool NameTable::add_kernel(Site site)
{
    if (site.slice_id < NSLICE_KERNEL_FIRST_ID)
        return false;
    if (way_of(site, true) == 0)
        site.name = kKernelPrefix + site.name;
    add(site, true);
    return true;
}

NameId NameTable::add_unregistered(uint16_t slice_id)
{
    std::string text = "#" + std::to_string(slice_id);
    while (by_text_.contains(text)) // a site may have this name
        text += '?';
    const NameId id = find_or_add(text);
    names_[id].is_unknown = true;
    ++unknown_ids_[slice_id >= NSLICE_KERNEL_FIRST_ID];
    return by_slice_[slice_id] = id;
}
} // namespace nsdump
