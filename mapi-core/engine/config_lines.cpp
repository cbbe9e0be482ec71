// SPDX-License-Identifier: MIT
// Config lines: the text of mapi.conf -> sections of keys and values.
//
// Debian's inih is built without line numbers for its handler, without a sign for a repeated section and with lines of at
// most 200 bytes; each of the three is needed here.
#include "engine/config_lines.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace mapi::engine
{
namespace
{
constexpr size_t kTextBytes = 400; // of a note: a line may be of any length
constexpr size_t kNotes = 1000; // nobody reads more
constexpr char kByteOrderMark[] = "\xef\xbb\xbf";

std::string trim(const std::string &text)
{
    const size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_comment(const std::string &line)
{
    return line[0] == '#' || line[0] == ';';
}

// "[name]"; what is wrong with it takes nothing from the keys behind it.
ConfigSection read_head(const std::string &line, unsigned number, ConfigNotes &notes)
{
    const size_t end = line.find(']');
    ConfigSection section{number, trim(line.substr(1, end - 1)), {}};
    const std::string behind = end == std::string::npos ? "" : trim(line.substr(end + 1));
    if (end == std::string::npos)
        notes.error(number, "\"]\" of the section is missing");
    else if (!behind.empty() && is_comment(behind))
        notes.warn(number, line + ": a comment requires a line of its own; this one is ignored");
    else if (!behind.empty())
        notes.error(number, "unexpected text after \"]\" of the section: " + behind);
    if (section.name.find_first_not_of("[ \t") == std::string::npos)
        notes.error(number, "the section has no name");
    return section;
}
} // namespace

// A terminal or a log shall not be steered by what somebody wrote.
void ConfigNotes::add(unsigned line, bool is_error, const std::string &text)
{
    const bool is_first_error = is_error && !std::exchange(has_error_, has_error_ || is_error);
    if (notes_.size() >= kNotes && !is_first_error)
        return;
    std::string printable = place(line) + ": " + (text.size() > kTextBytes ? text.substr(0, kTextBytes) + "..." : text);
    std::replace_if(printable.begin(), printable.end(), [](char byte) { return static_cast<unsigned char>(byte) < ' ' || byte == 0x7f; }, '?');
    notes_.push_back({line, is_error, std::move(printable)});
}

std::vector<ConfigNote> ConfigNotes::take()
{
    std::stable_sort(notes_.begin(), notes_.end(), [](const ConfigNote &one, const ConfigNote &other) { return one.line < other.line; });
    return std::move(notes_);
}

const ConfigKey *ConfigSection::find(const std::string &key) const
{
    const auto found = std::find_if(keys.rbegin(), keys.rend(), [&](const ConfigKey &one) { return one.key == key; });
    return found == keys.rend() ? nullptr : &*found;
}

std::vector<ConfigSection> split_config(std::istream &input, ConfigNotes &notes)
{
    std::vector<ConfigSection> sections(1);
    std::unordered_map<std::string, unsigned> lines; // of the section's keys
    unsigned number = 0;
    for (std::string raw; std::getline(input, raw);) {
        const std::string line = trim(raw);
        const size_t equals = line.find('=');
        ++number;
        if (number == 1 && line.starts_with(kByteOrderMark)) {
            notes.error(number, "the file begins with a byte order mark; save it as UTF-8 without one");
            continue;
        }
        if (line.find('\0') != std::string::npos) { // also in a comment: what a crash left of a file is not taken for all of it
            notes.error(number, "the line contains a NUL byte");
            continue;
        }
        if (line.empty() || is_comment(line))
            continue;
        if (line[0] == '[') {
            sections.push_back(read_head(line, number, notes));
            lines.clear();
        } else if (equals == std::string::npos) {
            notes.error(number, "malformed line, neither a section nor key=value: " + line);
        } else {
            ConfigKey key{number, trim(line.substr(0, equals)), trim(line.substr(equals + 1))};
            if (const auto [before, is_new] = lines.try_emplace(key.key, number); !is_new)
                notes.warn(number, key.key + "= was already set in line " + std::to_string(before->second) + "; the last one counts");
            if (key.key != "description" && (key.value.find(" ;") != std::string::npos || key.value.find(" #") != std::string::npos))
                notes.warn(number, key.key + "=" + key.value + ": a comment requires a line of its own; this one is part of the value");
            sections.back().keys.push_back(std::move(key));
        }
    }
    return sections;
}
} // namespace mapi::engine
