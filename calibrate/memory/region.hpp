// SPDX-License-Identifier: MIT
// region: memory with small pages or huge pages, and how much of it the kernel gave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace calibrate
{
enum class Pages { small, huge };

class Region
{
public:
    // All of it is present; `bytes` is rounded up to whole huge pages.  Throws CannotMeasure if
    // there is not enough memory.
    Region(size_t bytes, Pages pages);
    ~Region();
    Region(const Region &) = delete;
    Region &operator=(const Region &) = delete;

    std::byte *data() const { return data_; }
    size_t bytes() const { return bytes_; }
    // Bytes on huge pages, as /proc/self/smaps reports them.
    size_t huge_bytes() const;

private:
    std::byte *mapping_ = nullptr;
    std::byte *data_ = nullptr; // aligned to a huge page
    size_t mapping_bytes_;
    size_t bytes_;
};

// AnonHugePages of the mapping that contains the address, in bytes; `smaps` is the text of
// /proc/self/smaps.
size_t huge_bytes_of(std::istream &smaps, uintptr_t address);

// "always", "madvise" or "never" of a line such as "always [madvise] never"; "unavailable" if the
// kernel has none.
std::string huge_page_setting(const std::string &line);
} // namespace calibrate
