// SPDX-License-Identifier: MIT
// cli: the module's list of groups as text -> rows -> text or JSON.
#include "cli/record/kernel_groups.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "export/escape.hpp"

namespace nsdump
{
namespace
{
constexpr size_t kFields = 7;

std::vector<std::string> split(std::string_view text, char border)
{
    std::vector<std::string> parts;
    for (;;) {
        const size_t end = text.find(border);
        parts.emplace_back(text.substr(0, end));
        if (end == text.npos)
            return parts;
        text.remove_prefix(end + 1);
    }
}
} // namespace

std::vector<KernelPlace> parse_groups(std::string_view text)
{
    std::vector<KernelPlace> places;
    for (const std::string &line : split(text, '\n')) {
        std::vector<std::string> field = split(line, '\t');
        if (field.size() >= kFields)
            places.push_back(
                {field[0], field[1], field[2], field[3], field[4], field[5], field[6] == "yes"});
    }
    return places;
}

std::string groups_text(const std::vector<KernelPlace> &places)
{
    size_t width = 0, slice_width = 0;
    for (const KernelPlace &place : places) {
        width = std::max(width, printable(place.tracepoint).size());
        slice_width = std::max(slice_width, printable(place.slice).size());
    }
    std::string text, group;
    const auto to = std::back_inserter(text);
    for (const KernelPlace &place : places) {
        if (place.group != group)
            fmt::format_to(to, "{}{}: {}\n", group.empty() ? "" : "\n", printable(place.group),
                           printable(place.group_says));
        group = place.group;
        fmt::format_to(to, "  {:<{}}  {:<5} {:<{}}  {}{}\n", printable(place.tracepoint), width,
                       printable(place.kind), printable(place.slice), slice_width,
                       printable(place.says), place.is_here ? "" : " (not in this kernel)");
    }
    return text;
}

std::string groups_json(const std::vector<KernelPlace> &places)
{
    using Json = nlohmann::ordered_json;
    Json json = {{"schema", "netslice-kernel-1"}, {"places", Json::array()}};
    for (const KernelPlace &place : places)
        json["places"].push_back({{"group", place.group},
                                  {"group_says", place.group_says},
                                  {"tracepoint", place.tracepoint},
                                  {"kind", place.kind},
                                  {"slice", place.slice},
                                  {"says", place.says},
                                  {"here", place.is_here}});
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
} // namespace nsdump
