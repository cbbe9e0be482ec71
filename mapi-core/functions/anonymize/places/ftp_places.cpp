// SPDX-License-Identifier: MIT
// FTP places: commands and replies (RFC 959) of a control connection, line by line.
#include <algorithm>

#include "anonymize/places/places.hpp"
#include "anonymize/places/text_lines.hpp"

namespace mapi::anonymize
{
namespace
{
constexpr size_t kCodeBytes = 3;

struct Part {
    size_t begin;
    size_t end;
};

void add(const Part &value, const Part &line, uint32_t offset, Places &places)
{
    if (line.end <= line.begin)
        return;
    Place place;
    place.offset = offset + uint32_t(value.begin);
    place.bytes = uint32_t(value.end - value.begin);
    place.line_offset = offset + uint32_t(line.begin);
    place.line_bytes = uint32_t(line.end - line.begin);
    place.shape = Shape::kText;
    places.push_back(place);
}

void read_command(Field field, std::string_view text, const Line &line, uint32_t offset,
                  Places &places)
{
    const std::string_view all = text.substr(line.begin, line.end - line.begin);
    const size_t word_end = std::min(all.find(' '), all.size());
    const size_t value = std::min(all.find_first_not_of(' ', word_end), all.size());
    if (equal_without_case(all.substr(0, word_end), wire_name_of(field)))
        add({line.begin + value, line.end}, {line.begin, line.next}, offset, places);
}

bool has_code(std::string_view line)
{
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return line.size() >= kCodeBytes && std::ranges::all_of(line.substr(0, kCodeBytes), is_digit) &&
           (line.size() == kCodeBytes || line[kCodeBytes] == ' ' || line[kCodeBytes] == '-');
}

// Lines without a code are continuation lines of a reply.
void read_reply(Field field, std::string_view text, const Line &line, uint32_t offset,
                Places &places)
{
    const bool is_coded = has_code(text.substr(line.begin, line.end - line.begin));
    const size_t code_end = line.begin + (is_coded ? kCodeBytes : 0);
    const Part code{line.begin, code_end};
    const Part words{std::min(code_end + is_coded, line.end), line.end};
    const Part &part = field == Field::kFtpResponseCode ? code : words;
    add(part, part, offset, places);
}
} // namespace

void find_ftp_places(Field field, std::span<const uint8_t> text, uint32_t offset, bool is_command,
                     Places &places)
{
    const bool is_reply_field =
        field == Field::kFtpResponseCode || field == Field::kFtpResponseText;
    if (is_reply_field == is_command)
        return;
    const std::string_view lines = as_text(text);
    for (size_t at = 0; at < lines.size();) {
        const Line line = line_at(lines, at);
        if (is_command)
            read_command(field, lines, line, offset, places);
        else
            read_reply(field, lines, line, offset, places);
        at = line.next;
    }
}
} // namespace mapi::anonymize
