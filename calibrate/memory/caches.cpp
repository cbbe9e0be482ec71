// SPDX-License-Identifier: MIT
// caches: one folder of /sys for each cache of a CPU -> those that hold data.
#include "memory/caches.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include <fmt/format.h>

namespace calibrate
{
namespace
{
constexpr unsigned kMostCaches = 16;
constexpr uint64_t kMostBytes = uint64_t(1) << 40;

std::optional<std::string> line_of(const std::filesystem::path &path)
{
    std::ifstream file(path);
    std::string line;
    if (!file || !std::getline(file, line) || line.empty())
        return std::nullopt;
    return line;
}

// "32K" -> 32768
std::optional<uint64_t> size_of(const std::string &text)
{
    uint64_t number = 0;
    const char *const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc())
        return std::nullopt;
    const unsigned shift = parsed.ptr == end    ? 0
                           : *parsed.ptr == 'K' ? 10
                           : *parsed.ptr == 'M' ? 20
                           : *parsed.ptr == 'G' ? 30
                                                : 64;
    if (shift == 64 || number == 0 || number > kMostBytes >> shift)
        return std::nullopt;
    return number << shift;
}

std::optional<Cache> cache_at(const std::filesystem::path &folder)
{
    const auto level = size_of(line_of(folder / "level").value_or(""));
    const auto bytes = size_of(line_of(folder / "size").value_or(""));
    const std::string type = line_of(folder / "type").value_or("");
    if (!level || *level > kMostCaches || !bytes || (type != "Data" && type != "Unified"))
        return std::nullopt;
    Cache cache;
    cache.level = unsigned(*level);
    cache.bytes = *bytes;
    if (const auto line = size_of(line_of(folder / "coherency_line_size").value_or("")))
        cache.line_bytes = unsigned(*line);
    cache.shared_by = line_of(folder / "shared_cpu_list");
    cache.source = "/sys/devices/system/cpu";
    return cache;
}
} // namespace

std::vector<Cache> read_caches(const std::filesystem::path &root, unsigned cpu)
{
    const auto folder = root / fmt::format("sys/devices/system/cpu/cpu{}/cache", cpu);
    std::vector<Cache> caches;
    for (unsigned index = 0; index < kMostCaches; ++index)
        if (auto cache = cache_at(folder / fmt::format("index{}", index)))
            caches.push_back(*cache);
    if (caches.empty() && root == "/")
        caches = caches_of_library();
    std::sort(caches.begin(), caches.end(),
              [](const Cache &a, const Cache &b) { return a.level < b.level; });
    // A cache that is not larger than the one before it has no range of sizes to measure at.
    std::vector<Cache> growing;
    for (const Cache &cache : caches)
        if (growing.empty() || cache.bytes > growing.back().bytes)
            growing.push_back(cache);
    return growing;
}

std::vector<Cache> caches_of_library()
{
    constexpr struct {
        unsigned level;
        int name;
    } kLevels[] = {
        {1, _SC_LEVEL1_DCACHE_SIZE}, {2, _SC_LEVEL2_CACHE_SIZE}, {3, _SC_LEVEL3_CACHE_SIZE}};
    std::vector<Cache> caches;
    for (const auto &one : kLevels)
        if (const long bytes = sysconf(one.name); bytes > 0)
            caches.push_back({one.level, uint64_t(bytes), {}, {}, "sysconf()"});
    return caches;
}

uint64_t size_for(const std::vector<Cache> &caches, const Cache &cache)
{
    constexpr uint64_t kLeastBytes = 4096;
    uint64_t before = 0;
    for (const Cache &other : caches)
        if (other.level < cache.level)
            before = std::max(before, other.bytes);
    uint64_t bytes = cache.bytes / 4;
    if (before > 0)
        bytes = std::min(std::clamp(bytes, 2 * before, 4 * before), cache.bytes / 4 * 3);
    return std::max(bytes / kLeastBytes * kLeastBytes, kLeastBytes);
}

std::optional<uint64_t> available_bytes(const std::filesystem::path &root)
{
    std::optional<uint64_t> least;
    const auto limit = [&](std::optional<uint64_t> bytes) {
        if (bytes)
            least = least ? std::min(*least, *bytes) : *bytes;
    };
    limit(size_of(line_of(root / "sys/fs/cgroup/memory.max").value_or(""))); // of a container
    std::ifstream file(root / "proc/meminfo");
    for (std::string line; std::getline(file, line);)
        if (const size_t digit = line.find_first_of("0123456789");
            line.starts_with("MemAvailable:") && digit != line.npos)
            limit(size_of(line.substr(digit, line.find(' ', digit) - digit) + 'K'));
    return least;
}
} // namespace calibrate
