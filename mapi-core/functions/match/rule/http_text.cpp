// SPDX-License-Identifier: MIT
// HTTP text: what a rule sees of a URI and of header lines, and how a message begins.
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "match/rule/http_parts.hpp"

namespace mapi::match::rule
{
namespace
{
using Bytes = std::span<const uint8_t>;

constexpr size_t kLongestMethod = 32;

int hex_value(uint8_t digit)
{
    if (!std::isxdigit(digit))
        return -1;
    return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
}

// Decodes %HH and appends one byte; returns the bytes taken.
size_t append_decoded(Bytes raw, size_t at, std::vector<uint8_t> &out)
{
    if (raw[at] == '%' && at + 2 < raw.size()) {
        const int high = hex_value(raw[at + 1]), low = hex_value(raw[at + 2]);
        if (high >= 0 && low >= 0) {
            out.push_back(uint8_t(high << 4 | low));
            return 3;
        }
    }
    out.push_back(raw[at]);
    return 1;
}

// Takes the last segment away, which `..` refers to; the first slash stays.
void remove_segment(std::vector<uint8_t> &path, size_t first)
{
    while (path.size() > first + 1 && path.back() != '/')
        path.pop_back();
}

// A slash is about to follow what the path ends with.
void end_segment(std::vector<uint8_t> &path, size_t first)
{
    const auto ends_with = [&](std::string_view end) {
        return path.size() >= first + end.size() &&
               std::equal(end.rbegin(), end.rend(), path.rbegin());
    };
    if (ends_with("/..")) {
        path.resize(path.size() - 3);
        remove_segment(path, first);
    } else if (ends_with("/.")) {
        path.pop_back();
    }
    if (path.size() == first || path.back() != '/')
        path.push_back('/');
}

// The bytes of "scheme://", whose slashes are no empty segment.
size_t scheme_bytes(Bytes raw)
{
    size_t at = 0;
    while (at < raw.size() && std::isalpha(raw[at]))
        ++at;
    const bool has_scheme =
        at > 0 && at + 2 < raw.size() && raw[at] == ':' && raw[at + 1] == '/' && raw[at + 2] == '/';
    return has_scheme ? at + 3 : 0;
}

bool is_cookie(Bytes line)
{
    for (const std::string_view name :
         {std::string_view("cookie:"), std::string_view("set-cookie:")}) {
        if (line.size() >= name.size() &&
            std::equal(name.begin(), name.end(), line.begin(),
                       [](char a, uint8_t b) { return a == std::tolower(b); }))
            return true;
    }
    return false;
}

void append(std::vector<uint8_t> &text, Bytes bytes)
{
    text.insert(text.end(), bytes.begin(), bytes.end());
}
} // namespace

bool begins_like_http(Bytes payload)
{
    static constexpr std::string_view kVersion = "HTTP/";
    if (payload.size() >= kVersion.size() &&
        std::equal(kVersion.begin(), kVersion.end(), payload.begin()))
        return true;
    size_t at = 0;
    while (at < payload.size() && at < kLongestMethod &&
           (std::isupper(payload[at]) || payload[at] == '-' || payload[at] == '_'))
        ++at;
    return at >= 3 && at < payload.size() && payload[at] == ' ';
}

void normalize_uri(Bytes raw, std::vector<uint8_t> &uri)
{
    uri.clear();
    const size_t first = scheme_bytes(raw);
    append(uri, raw.first(first));
    size_t at = first;
    for (; at < raw.size() && raw[at] != '?';) {
        at += append_decoded(raw, at, uri);
        if (uri.back() != '/' && uri.back() != '\\')
            continue;
        uri.pop_back();
        end_segment(uri, first);
    }
    while (at < raw.size())
        at += append_decoded(raw, at, uri);
}

void add_headers(Bytes block, HttpParts &parts)
{
    std::vector<uint8_t> &headers = parts.add(Buffer::kRawHeader);
    bool was_cookie = false;
    while (!block.empty()) {
        const auto newline = std::find(block.begin(), block.end(), '\n');
        const Bytes line = block.first(size_t(newline - block.begin()) + (newline != block.end()));
        block = block.subspan(line.size());
        const bool is_continued = line[0] == ' ' || line[0] == '\t';
        was_cookie = is_continued ? was_cookie : is_cookie(line);
        if (!was_cookie) {
            append(headers, line);
            continue;
        }
        auto begin = is_continued ? line.begin() : std::find(line.begin(), line.end(), ':') + 1;
        begin = std::find_if(begin, line.end(), [](uint8_t c) { return c != ' ' && c != '\t'; });
        auto end = line.end();
        while (end != begin && (end[-1] == '\n' || end[-1] == '\r'))
            --end;
        append(headers, {line.begin(), begin});
        append(parts.add(Buffer::kRawCookie), {begin, end});
        append(headers, {end, line.end()});
    }
    parts.add(Buffer::kHeader) = headers;
    if (const auto cookie = parts.find(Buffer::kRawCookie))
        parts.add(Buffer::kCookie).assign(cookie->begin(), cookie->end());
}
} // namespace mapi::match::rule
