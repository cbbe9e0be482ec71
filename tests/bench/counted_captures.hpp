// SPDX-License-Identifier: MIT
// What the benchmarks of filter counts read: a list of filters, and captures in all folders below
// one.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bench
{
namespace fs = std::filesystem;

inline std::vector<std::string> read_filters(const char *path)
{
    std::vector<std::string> filters;
    std::ifstream lines(path);
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && line[0] != '#')
            filters.push_back(line);
    return filters;
}

inline std::string quoted(const std::string &text)
{
    return "'" + text + "'"; // no filter or capture name contains a quotation mark
}

// A file that libpcap can read: the capture itself, or its decompressed contents.
inline fs::path unpacked(const fs::path &capture, const fs::path &folder)
{
    static const std::map<std::string, std::string> kPrograms = {
        {".gz", "gzip"}, {".xz", "xz"}, {".bz2", "bzip2"}, {".zst", "zstd"}};
    const auto program = kPrograms.find(capture.extension());
    if (program == kPrograms.end())
        return capture;
    fs::path out = folder / "unpacked";
    if (std::system(
            (program->second + " -dcq <" + quoted(capture) + " >" + quoted(out) + " 2>/dev/null")
                .c_str()) != 0)
        return capture;
    return out;
}

// All files below the folder, sorted by path.  The environment variable NETSLICE_DATA overrides the
// folder.  Returns an empty set if the folder does not exist.
inline std::set<fs::path> find_captures(const char *folder)
{
    const char *const named = std::getenv("NETSLICE_DATA");
    std::set<fs::path> captures;
    if (!fs::is_directory(named ? named : folder))
        return captures;
    for (const auto &entry : fs::recursive_directory_iterator(named ? named : folder))
        if (entry.is_regular_file())
            captures.insert(entry.path());
    return captures;
}
} // namespace bench
