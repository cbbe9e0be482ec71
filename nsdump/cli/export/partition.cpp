// SPDX-License-Identifier: MIT
// cli: --partition -> is it valid?
#include "cli/export/partition.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/read/moment.hpp"
#include "common/command/numbers.hpp"

namespace nsdump
{
namespace
{
constexpr const char *kTime = "time=";

// At least 1 ns; unlike a moment, with a unit, and that in ASCII.
bool is_window(const std::string &text)
{
    const auto length = moment_of(text);
    if (!length || length->is_absolute || length->ns < 1 || text.back() < 'a' || text.back() > 'z')
        return false;
    return text.find_first_not_of("0123456789.nsumih") == std::string::npos;
}

std::string check_part(const std::string &part)
{
    if (part == "cpu")
        return "";
    if (!part.starts_with(kTime))
        return fmt::format("{} is neither cpu nor time=DURATION, such as time=1s",
                           command::quoted(part));
    const std::string window = part.substr(std::string(kTime).size());
    return is_window(window) ? ""
                             : fmt::format("{} is not a duration (give a number of at least 1 ns "
                                           "and its unit, such as 1s or 100ms)",
                                           command::quoted(window));
}
} // namespace

std::string is_partition(const std::string &text)
{
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        if (std::string wrong = check_part(text.substr(begin, end - begin)); !wrong.empty())
            return wrong;
        begin = end + 1;
    }
    return "";
}
} // namespace nsdump
