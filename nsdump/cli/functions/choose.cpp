// SPDX-License-Identifier: MIT
// cli: ELF files and regular expressions -> the functions that match, and the way to record them.
#include "cli/functions/choose.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <regex.h>

#include "common/command/counted.hpp"
#include "common/functions/name_match.h"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
constexpr size_t kMostNameBytes = 200, kMostSimilar = 3, kMostCompared = 64;

struct Pattern {
    std::string object; // empty: all
    std::string regex;
};

// A colon of "::" or of "[:alpha:]" does not end the name of an object.
Pattern split(const std::string &text)
{
    const size_t colon = text.find(':');
    const auto is_of_file = [](unsigned char letter) {
        return std::isalnum(letter) ||
               std::string_view("._+-").find(char(letter)) != std::string_view::npos;
    };
    if (colon == text.npos || colon == 0 || text.substr(colon, 2) == "::" ||
        !std::all_of(text.begin(), text.begin() + ptrdiff_t(colon), is_of_file))
        return {"", text};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

// regcomp() recurses with each parenthesis and makes a copy of what is repeated.
constexpr size_t kMostRegexBytes = 1000, kMostCopies = 1000;

const char *why_too_costly(const std::string &regex)
{
    size_t copies = 1;
    for (size_t at = regex.find('{'); at != regex.npos; at = regex.find('{', at + 1)) {
        size_t bound = 1;
        for (const char *c = &regex[at + 1]; std::isdigit((unsigned char)*c) || *c == ','; ++c)
            bound = std::max(bound, size_t(std::strtoul(c, nullptr, 10)));
        copies = bound > kMostCopies ? kMostCopies + 1 : copies * bound;
        if (copies > kMostCopies)
            return "repeats too much (at most 1000 copies)";
    }
    for (size_t at = regex.find('\\'); at != regex.npos; at = regex.find('\\', at + 2))
        if (at + 1 < regex.size() && std::isdigit((unsigned char)regex[at + 1]))
            return "has a back reference, which is not supported";
    return regex.size() > kMostRegexBytes ? "is longer than 1000 bytes" : nullptr;
}

class Regex
{
public:
    explicit Regex(const std::string &text)
        : error_(regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB))
    {
    }
    ~Regex()
    {
        if (error_ == 0)
            regfree(&compiled_);
    }
    Regex(const Regex &) = delete;
    Regex &operator=(const Regex &) = delete;

    std::string what_is_wrong() const
    {
        char text[128] = "";
        if (error_ != 0)
            regerror(error_, &compiled_, text, sizeof(text));
        return text;
    }
    bool is_for(const ElfFunction &function) const
    {
        return error_ == 0 &&
               nsf_is_match(&compiled_, function.name.c_str(), function.symbol.c_str()) != 0;
    }

private:
    regex_t compiled_;
    int error_;
};

std::string without_arguments(const std::string &name)
{
    return name.substr(0, nsf_bytes_without_arguments(name.c_str()));
}

bool is_of(const ElfObject &object, const Pattern &pattern)
{
    const std::string file = object.name.substr(object.name.rfind('/') + 1);
    return file.starts_with(pattern.object);
}

size_t distance(std::string_view a, std::string_view b)
{
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = std::exchange(row[0], i);
        for (size_t j = 1; j <= b.size(); ++j)
            diagonal = std::exchange(
                row[j], std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])}));
    }
    return row[b.size()];
}

std::vector<std::string> similar_names(const std::vector<ElfObject> &objects,
                                       const std::string &regex)
{
    std::string wanted;
    for (const char letter : regex)
        if (std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == ':')
            wanted += letter;
    std::set<std::pair<size_t, std::string>> nearest;
    for (const ElfFunction &function : objects.front().functions) { // the program's own
        const std::string name = without_arguments(function.name);
        nearest.emplace(distance(std::string_view(wanted).substr(0, kMostCompared),
                                 std::string_view(name).substr(0, kMostCompared)),
                        name);
        if (nearest.size() > kMostSimilar)
            nearest.erase(std::prev(nearest.end()));
    }
    std::vector<std::string> names;
    for (const auto &[apart, name] : nearest)
        names.push_back(name);
    return names;
}

[[noreturn]] void refuse(const std::vector<ElfObject> &objects, const std::string &pattern)
{
    const ElfObject &program = objects.front();
    const Pattern parts = split(pattern);
    std::string why =
        fmt::format("--function {}: no function of {} matches", pattern, program.name);
    if (!parts.object.empty() && std::ranges::none_of(objects, [&](const ElfObject &object) {
            return is_of(object, parts);
        }))
        why = fmt::format("--function {}: {} has no shared object {}", pattern, program.name,
                          parts.object);
    else if (program.is_stripped)
        why += "; it is stripped, so only functions that it exports are known (use the file that "
               "still has its symbols)";
    else if (const auto names = similar_names(objects, parts.regex); !names.empty())
        why += fmt::format(" (similar: {}; functions that the compiler has inlined are not there; "
                           "`nsdump functions {}` lists all)",
                           fmt::join(names, ", "), program.name);
    throw TraceError(why);
}

std::string shortened(const std::string &name)
{
    return name.size() <= kMostNameBytes ? name : name.substr(0, kMostNameBytes - 3) + "...";
}

// Static functions of several files may have one name.
void tell_apart(std::vector<ChosenFunction> &functions)
{
    std::map<std::string, size_t> uses;
    for (const ChosenFunction &one : functions)
        ++uses[one.name];
    for (ChosenFunction &one : functions)
        if (uses[one.name] > 1)
            one.name += fmt::format(" @{:x}", one.function->address);
}
} // namespace

std::string is_function_pattern(const std::string &text)
{
    const Pattern pattern = split(text);
    if (pattern.regex.empty())
        return "is empty (give a regular expression for names of functions)";
    if (const char *const why = why_too_costly(pattern.regex))
        return why;
    const std::string wrong = Regex(pattern.regex).what_is_wrong();
    return wrong.empty() ? "" : "\"" + pattern.regex + "\": " + wrong;
}

bool has_object(const std::string &pattern)
{
    return !split(pattern).object.empty();
}

std::vector<ChosenFunction> choose_functions(const std::vector<ElfObject> &objects,
                                             const std::vector<std::string> &patterns)
{
    std::vector<ChosenFunction> chosen;
    std::set<std::pair<const ElfObject *, uint64_t>> places;
    for (const std::string &text : patterns) {
        const Pattern pattern = split(text);
        const Regex regex(pattern.regex);
        bool has_match = false;
        for (const ElfObject &object : objects) {
            for (const ElfFunction &function : object.functions) {
                if (!is_of(object, pattern) || !regex.is_for(function))
                    continue;
                has_match = true;
                if (places.emplace(&object, function.address).second)
                    chosen.push_back({&object, &function, shortened(function.name)});
            }
        }
        if (!has_match)
            refuse(objects, text);
    }
    tell_apart(chosen);
    return chosen;
}

std::string why_not_by_sleds(const std::vector<ChosenFunction> &functions)
{
    const auto without = std::ranges::count_if(functions, [](const ChosenFunction &one) {
        return !one.function->has_sled && !one.function->has_entry;
    });
    if (without == 0)
        return {};
    return fmt::format("{} of {} {} neither an XRay sled nor a patchable entry", without,
                       command::counted(functions.size(), "function"),
                       without == 1 ? "has" : "have");
}

std::string why_not_by_uprobes(const std::vector<ChosenFunction> &functions)
{
    for (const ChosenFunction &one : functions)
        if (one.object->is_go)
            return fmt::format("{} is a Go program, which moves its stacks: a trapped return would "
                               "crash it",
                               one.object->name);
    return {};
}
} // namespace nsdump
