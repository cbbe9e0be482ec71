// SPDX-License-Identifier: MIT
// region: mmap() and madvise() -> memory with the wanted pages.
#include "memory/region.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include <sys/mman.h>

#include <fmt/format.h>

#include "run.hpp"

namespace calibrate
{
namespace
{
constexpr size_t kHugeBytes = size_t(2) << 20;

size_t whole_huge_pages(size_t bytes)
{
    return (bytes + kHugeBytes - 1) / kHugeBytes * kHugeBytes;
}

bool covers(std::string_view range, uintptr_t address)
{
    uintptr_t from = 0, to = 0;
    const auto first = std::from_chars(range.data(), range.data() + range.size(), from, 16);
    if (first.ec != std::errc() || first.ptr == range.data() + range.size() || *first.ptr != '-')
        return false;
    const auto second = std::from_chars(first.ptr + 1, range.data() + range.size(), to, 16);
    return second.ec == std::errc() && from <= address && address < to;
}
} // namespace

Region::Region(size_t bytes, Pages pages)
    : mapping_bytes_(whole_huge_pages(bytes) + kHugeBytes), bytes_(whole_huge_pages(bytes))
{
    void *const mapping = mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
        throw CannotMeasure(fmt::format("{} bytes of memory: {} (use a smaller --largest)",
                                        mapping_bytes_, std::strerror(errno)));
    mapping_ = static_cast<std::byte *>(mapping);
    const uintptr_t over = reinterpret_cast<uintptr_t>(mapping_) % kHugeBytes;
    data_ = mapping_ + (over ? kHugeBytes - over : 0);
    madvise(data_, bytes_, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    std::memset(data_, 1, bytes_);
}

Region::~Region()
{
    munmap(mapping_, mapping_bytes_);
}

size_t Region::huge_bytes() const
{
    std::ifstream smaps("/proc/self/smaps");
    return huge_bytes_of(smaps, reinterpret_cast<uintptr_t>(data_));
}

size_t huge_bytes_of(std::istream &smaps, uintptr_t address)
{
    std::string line;
    bool is_here = false;
    while (std::getline(smaps, line)) {
        std::istringstream words(line);
        std::string first;
        size_t kilobytes = 0;
        words >> first;
        if (!first.ends_with(':'))
            is_here = covers(first, address);
        else if (is_here && first == "AnonHugePages:" && words >> kilobytes)
            return kilobytes << 10;
    }
    return 0;
}

std::string huge_page_setting(const std::string &line)
{
    const size_t open = line.find('['), close = line.find(']');
    if (open == line.npos || close == line.npos || close < open)
        return "unavailable";
    return line.substr(open + 1, close - open - 1);
}
} // namespace calibrate
