// SPDX-License-Identifier: MIT
// Config lines: the text of mapi.conf -> sections of keys and values.
//
// Debian's inih is not usable: it is built without line numbers for the handler, does not report a
// repeated section, and limits lines to 200 bytes.
#include "engine/config/config_lines.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace mapi::engine
{
namespace
{
constexpr size_t kTextBytes = 400; // maximum of a note, since a line may have any length
constexpr size_t kNotes = 1000;    // maximum that is kept
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

// "[name]"; the keys after a malformed header still belong to this section.
ConfigSection read_head(const std::string &line, unsigned number, ConfigNotes &notes)
{
    const size_t end = line.find(']');
    ConfigSection section{number, trim(line.substr(1, end - 1)), {}};
    const std::string behind = end == std::string::npos ? "" : trim(line.substr(end + 1));
    if (end == std::string::npos)
        notes.error(number, "missing \"]\" at the end of the section header");
    else if (!behind.empty() && is_comment(behind))
        notes.warn(number, line + ": a comment requires a line of its own; this one is ignored");
    else if (!behind.empty())
        notes.error(number, "unexpected text after \"]\" of the section: " + behind);
    if (section.name.find_first_not_of("[ \t") == std::string::npos)
        notes.error(number, "the section has no name");
    return section;
}
} // namespace

// Control characters in the file must not reach a terminal or log.
void ConfigNotes::add(unsigned line, bool is_error, const std::string &text, bool loses_device)
{
    const bool is_first_error = is_error && !std::exchange(has_error_, has_error_ || is_error);
    if (notes_.size() >= kNotes && !is_first_error)
        return;
    std::string printable =
        place(line) + ": " + (text.size() > kTextBytes ? text.substr(0, kTextBytes) + "..." : text);
    std::replace_if(
        printable.begin(), printable.end(),
        [](char byte) { return static_cast<unsigned char>(byte) < ' ' || byte == 0x7f; }, '?');
    notes_.push_back({line, is_error, std::move(printable), loses_device});
}

std::vector<ConfigNote> ConfigNotes::take()
{
    std::stable_sort(
        notes_.begin(), notes_.end(),
        [](const ConfigNote &one, const ConfigNote &other) { return one.line < other.line; });
    return std::move(notes_);
}

const ConfigKey *ConfigSection::find(const std::string &key) const
{
    const auto found = std::find_if(keys.rbegin(), keys.rend(),
                                    [&](const ConfigKey &one) { return one.key == key; });
    return found == keys.rend() ? nullptr : &*found;
}

std::vector<ConfigSection> split_config(std::istream &input, ConfigNotes &notes)
{
    std::vector<ConfigSection> sections(1);
    std::unordered_map<std::string, unsigned> lines; // of the current section's keys
    unsigned number = 0;
    for (std::string raw; std::getline(input, raw);) {
        const std::string line = trim(raw);
        const size_t equals = line.find('=');
        ++number;
        if (number == 1 && line.starts_with(kByteOrderMark)) {
            notes.error(number,
                        "the file begins with a byte order mark; save it as UTF-8 without one");
            continue;
        }
        if (line.find('\0') != std::string::npos) { // even in a comment: a file damaged by a crash
                                                    // must not be taken for a complete one
            notes.error(number, "the line contains a NUL byte");
            continue;
        }
        if (line.empty() || is_comment(line))
            continue;
        if (line[0] == '[') {
            sections.push_back(read_head(line, number, notes));
            lines.clear();
        } else if (equals == std::string::npos || equals == 0) {
            notes.error(number,
                        "malformed line, neither a section nor key=value: \"" + line + "\"");
        } else {
            ConfigKey key{number, trim(line.substr(0, equals)), trim(line.substr(equals + 1))};
            if (const auto [before, is_new] = lines.try_emplace(key.key, number); !is_new)
                notes.warn(number, key.key + "= was already set in line " +
                                       std::to_string(before->second) + "; the last one counts");
            if (key.key != "description" && (key.value.find(" ;") != std::string::npos ||
                                             key.value.find(" #") != std::string::npos))
                notes.warn(
                    number,
                    key.key + "=" + key.value +
                        ": a comment requires a line of its own; this one is part of the value");
            sections.back().keys.push_back(std::move(key));
        }
    }
    return sections;
}
} // namespace mapi::engine
