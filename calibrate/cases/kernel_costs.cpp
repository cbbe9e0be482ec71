// SPDX-License-Identifier: MIT
// kernel_costs: the module's lines -> figures.
#include "kernel_costs.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <nsprobe/nsmod.h>
#include <nsprobe/session.h>

namespace calibrate
{
namespace
{
constexpr size_t kMostLines = 256, kLongestName = 40, kLongestReason = 200;
constexpr int64_t kMostTicks = int64_t{1} << 50; // times 1024
constexpr double kScale = 1024;

bool is_plain(std::string_view text, size_t longest)
{
    return !text.empty() && text.size() <= longest &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::optional<int64_t> number(std::string_view text, int64_t least, int64_t most)
{
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = error == std::errc() && end == text.data() + text.size();
    return is_whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char at)
{
    std::vector<std::string_view> parts;
    for (size_t begin = 0;;) {
        const size_t end = text.find(at, begin);
        parts.push_back(text.substr(begin, end - begin));
        if (end == text.npos)
            return parts;
        begin = end + 1;
    }
}

std::optional<KernelCost> parse_line(std::string_view line)
{
    const auto fields = split(line, '\t');
    if (!is_plain(fields[0], kLongestName))
        return std::nullopt;
    if (fields.size() == 3 && fields[1] == "unavailable" && is_plain(fields[2], kLongestReason))
        return KernelCost{std::string(fields[0]), std::nullopt, std::string(fields[2])};
    if (fields.size() != 4)
        return std::nullopt;
    const auto mean = number(fields[1], -kMostTicks, kMostTicks),
               ci95 = number(fields[2], 0, kMostTicks), batches = number(fields[3], 2, 1000000);
    if (!mean || !ci95 || !batches)
        return std::nullopt;
    Estimate estimate;
    estimate.mean = double(*mean) / kScale;
    estimate.ci95 = double(*ci95) / kScale;
    estimate.batches = uint32_t(*batches);
    return KernelCost{std::string(fields[0]), estimate, ""};
}
} // namespace

KernelCosts parse_kernel_costs(std::string_view text)
{
    KernelCosts all;
    auto lines = split(text, '\n');
    if (lines.back().empty())
        lines.pop_back();
    else
        lines.back() = ""; // truncated: the last number may be incomplete
    if (lines.size() > kMostLines) {
        all.bad_lines = unsigned(lines.size() - kMostLines);
        lines.resize(kMostLines);
    }
    for (const std::string_view line : lines) {
        const auto cost = parse_line(line);
        const auto same = [&](const KernelCost &other) { return other.name == cost->name; };
        if (!cost || std::any_of(all.costs.begin(), all.costs.end(), same))
            ++all.bad_lines;
        else
            all.costs.push_back(*cost);
    }
    return all;
}

std::string read_kernel_costs(unsigned cpu, uint32_t batches, std::string &text)
{
    char *answer = nullptr;
    if (nsp_nsmod_measure(cpu, std::clamp<uint32_t>(batches, 10, NSLICE_MEASURE_MAX_BATCHES),
                          &answer) != 0)
        return nsp_last_error();
    text = answer;
    std::free(answer);
    return "";
}
} // namespace calibrate
