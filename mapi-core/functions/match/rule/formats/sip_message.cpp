// SPDX-License-Identifier: MIT
// SIP message: the start line, the lines of the header, the announced length of the body.  Lines
// end as in Snort 2.9, with CR LF, CR or LF.
#include "match/rule/formats/sip_message.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

namespace mapi::match::rule
{
namespace
{
constexpr std::string_view kProtocol = "SIP/";
constexpr size_t kVersionBytes = 7; // "SIP/2.0"
constexpr std::string_view kBlanks = " \t\r\n\v\f";

struct Line {
    std::string_view text; // without its end
    size_t end_bytes = 0;  // 0: the text is cut
};

Line next_line(std::string_view text)
{
    const size_t end = text.find_first_of("\r\n");
    if (end == text.npos)
        return {text, 0};
    return {text.substr(0, end), text.substr(end).starts_with("\r\n") ? size_t{2} : size_t{1}};
}

std::string_view trimmed(std::string_view text)
{
    const size_t first = std::min(text.find_first_not_of(kBlanks), text.size());
    text.remove_prefix(first);
    return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

bool is_word(std::string_view text, std::string_view lower)
{
    return std::ranges::equal(
        text, lower, [](char one, char other) { return std::tolower(uint8_t(one)) == other; });
}

// As strtoul() reads it, which takes a sign.
unsigned long number_of(std::string_view text)
{
    return std::strtoul(std::string(text).c_str(), nullptr, 10);
}

bool read_start(std::string_view text, const Line &line, SipMessage &message)
{
    if (line.end_bytes == 0 || line.text.size() < kVersionBytes)
        return false;
    if (text.starts_with(kProtocol)) {
        const size_t blank = line.text.find(' ');
        const unsigned long status =
            blank == line.text.npos ? 0 : number_of(line.text.substr(blank));
        message.status = status >= 100 && status <= 999 ? uint32_t(status) : 0;
        return blank != line.text.npos;
    }
    const size_t method_end = text.find(' ');
    const size_t uri_end = method_end == text.npos ? text.npos : text.find(' ', method_end + 1);
    if (uri_end == text.npos || method_end == 0)
        return false;
    message.method = text.substr(0, method_end);
    const std::string_view version = text.substr(uri_end + 1);
    return version.size() >= kVersionBytes && version.starts_with(kProtocol);
}

// Reads header lines for the length of the body.
class LengthReader
{
public:
    void take(std::string_view line)
    {
        const bool continues = line.starts_with(' ') || line.starts_with('\t');
        if (continues && is_length_) {
            length_ = uint32_t(number_of(line));
            return;
        }
        const size_t colon = line.find(':');
        const std::string_view name = trimmed(line.substr(0, colon));
        is_length_ = colon != line.npos && (is_word(name, "content-length") || is_word(name, "l"));
        if (is_length_)
            length_ = uint32_t(number_of(line.substr(colon + 1)));
    }
    uint32_t length() const { return length_; }

private:
    bool is_length_ = false; // the line before
    uint32_t length_ = 0;
};
} // namespace

// Without an empty line, the header is the start line alone, and the rest the body.
std::optional<SipMessage> read_sip(std::span<const uint8_t> payload)
{
    const std::string_view text(reinterpret_cast<const char *>(payload.data()), payload.size());
    SipMessage message;
    Line line = next_line(text);
    if (!read_start(text, line, message))
        return std::nullopt;
    size_t at = line.text.size() + line.end_bytes, header_bytes = at;
    LengthReader length;
    for (;;) {
        line = next_line(text.substr(at));
        if (line.end_bytes == 0)
            break;
        const bool is_empty =
            line.text.empty() && (line.end_bytes == 2 || text[at] == text[at - 1]);
        length.take(line.text);
        at += line.text.size() + line.end_bytes;
        if (is_empty) {
            header_bytes = at;
            break;
        }
    }
    message.header = payload.first(header_bytes);
    if (length.length() > 0)
        message.body = payload.subspan(header_bytes);
    return message;
}
} // namespace mapi::match::rule
