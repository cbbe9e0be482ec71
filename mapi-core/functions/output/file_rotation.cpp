// SPDX-License-Identifier: MIT
// File rotation: text -> limits; a path -> numbered names.
#include "functions/output/file_rotation.hpp"

#include <charconv>

#include "functions/values/interval.hpp"

namespace mapi::functions
{
namespace
{
constexpr uint64_t kNsPerSecond = 1000000000;

// A number above 0 and the text that follows it; 0 if there is none.
uint64_t leading_number(std::string_view text, std::string_view &rest)
{
    uint64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc())
        return 0;
    rest = text.substr(size_t(end.ptr - text.data()));
    return number;
}

// With k, M or G: powers of 1000, as in dumpcap.
uint64_t parse_bytes(std::string_view text)
{
    std::string_view unit;
    const uint64_t number = leading_number(text, unit);
    const uint64_t factor = unit.empty()  ? 1
                            : unit == "k" ? 1000
                            : unit == "M" ? 1000000
                            : unit == "G" ? 1000000000
                                          : 0;
    return factor == 0 || number > UINT64_MAX / factor ? 0 : number * factor;
}

// Seconds, or an amount of time with its unit.
uint64_t parse_ns(std::string_view text)
{
    std::string_view rest;
    const uint64_t seconds = leading_number(text, rest);
    if (seconds > 0 && rest.empty())
        return seconds > UINT64_MAX / kNsPerSecond ? 0 : seconds * kNsPerSecond;
    const auto amount = parse_amount(std::string(text));
    return amount && amount->is_time ? amount->number : 0;
}

unsigned parse_files(std::string_view text)
{
    std::string_view rest;
    const uint64_t files = leading_number(text, rest);
    return rest.empty() && files >= 2 && files <= FileRotation::kFilesMax ? unsigned(files) : 0;
}
} // namespace

std::optional<FileRotation> parse_file_rotation(std::string_view text)
{
    FileRotation rotation;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(','));
        const size_t equals = word.find('=');
        const std::string_view key = word.substr(0, equals), value = equals == word.npos
                                                                         ? std::string_view()
                                                                         : word.substr(equals + 1);
        uint64_t parsed = 0;
        if (key == "size")
            parsed = rotation.bytes = parse_bytes(value);
        else if (key == "time")
            parsed = rotation.ns = parse_ns(value);
        else if (key == "files")
            parsed = rotation.files = parse_files(value);
        if (parsed == 0)
            return std::nullopt;
        text.remove_prefix(word.size());
        if (!text.empty() && (text.remove_prefix(1), text.empty()))
            return std::nullopt; // trailing comma
    }
    if (rotation.files == 0 || (rotation.bytes == 0 && rotation.ns == 0))
        return std::nullopt;
    return rotation;
}

std::string FileRotation::name(const std::string &path, unsigned file) const
{
    const size_t folder = path.rfind('/'), begin = folder == path.npos ? 0 : folder + 1;
    const size_t dot = path.rfind('.');
    const size_t stem = dot == path.npos || dot <= begin ? path.size() : dot;
    const std::string number = std::to_string(file + 1);
    const size_t digits = std::to_string(files).size();
    return path.substr(0, stem) + "_" + std::string(digits - number.size(), '0') + number +
           path.substr(stem);
}
} // namespace mapi::functions
