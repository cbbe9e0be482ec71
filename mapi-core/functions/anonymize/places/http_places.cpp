// SPDX-License-Identifier: MIT
// HTTP places: first lines, header lines and bodies of the messages (RFC 9112) that begin in a
// segment.
#include <algorithm>
#include <charconv>

#include "anonymize/bytes.hpp"
#include "anonymize/places/places.hpp"
#include "anonymize/places/text_lines.hpp"

namespace mapi::anonymize
{
namespace
{
constexpr std::string_view kMethods[] = {"GET",     "POST",    "HEAD",  "PUT",  "DELETE",
                                         "OPTIONS", "CONNECT", "TRACE", "PATCH"};
constexpr size_t kMethodBytesMax = 32;

bool is_token(std::string_view text)
{
    return !text.empty() && text.size() <= kMethodBytesMax && std::ranges::all_of(text, [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_';
    });
}

std::string_view trimmed(std::string_view text)
{
    const size_t begin = text.find_first_not_of(" \t");
    return begin == std::string_view::npos
               ? std::string_view()
               : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

enum class Kind { kNone, kRequest, kResponse };

// A request whose first line continues in the next segment is recognized only by its method.
Kind kind_of(std::string_view text, const Line &line)
{
    const std::string_view first = text.substr(line.begin, line.end - line.begin);
    if (first.starts_with("HTTP/"))
        return first.find(' ') != std::string_view::npos ? Kind::kResponse : Kind::kNone;
    const size_t space = first.find(' ');
    if (space == std::string_view::npos || !is_token(first.substr(0, space)))
        return Kind::kNone;
    if (first.rfind(" HTTP/") != std::string_view::npos)
        return Kind::kRequest;
    return !line.is_whole &&
                   std::ranges::find(kMethods, first.substr(0, space)) != std::end(kMethods)
               ? Kind::kRequest
               : Kind::kNone;
}

bool is_port(uint16_t port)
{
    return port == 80 || port == 8080 || port == 8000 || port == 3128;
}

bool is_header_line(std::string_view line)
{
    const size_t colon = line.find(':');
    return colon != std::string_view::npos && is_token(line.substr(0, colon));
}

// After the end of a line that began elsewhere: another header, or, in a request, nothing more.
bool goes_on_with_headers(std::string_view text, bool is_request)
{
    const Line first = line_at(text, 0);
    if (!first.is_whole || first.next == text.size())
        return false;
    const Line second = line_at(text, first.next);
    if (second.begin == second.end)
        return is_request && second.next == text.size();
    return is_header_line(text.substr(second.begin, second.end - second.begin));
}

class Messages
{
public:
    Messages(Field field, std::string_view text, uint32_t offset, Places &places)
        : field_(field), text_(text), offset_(offset), places_(places)
    {
    }

    void find(HttpStart start)
    {
        if (start != HttpStart::kMessage)
            read_continued(start);
        while (at_ < text_.size()) {
            const Line first = line_at(text_, at_);
            kind_ = kind_of(text_, first);
            if (kind_ == Kind::kNone)
                return;
            if (kind_ == Kind::kRequest)
                read_request(first);
            else
                read_response(first);
            at_ = first.next;
            read_header_lines();
            read_body();
        }
    }

private:
    // The header of the first line is unknown, so the line is hidden like a truncated one.
    void read_continued(HttpStart start)
    {
        const Line first = line_at(text_, 0);
        if (is_header_field() && first.end > 0) {
            add(field_, 0, first.end);
            places_.back().is_cut = true;
        }
        at_ = first.next;
        body_bytes_ = start == HttpStart::kRequestHeaders ? 0 : text_.size();
        read_header_lines();
        read_body();
    }
    bool is_header_field() const
    {
        return group_of(field_) == Group::kHttp && field_ >= Field::kUserAgent;
    }

    // STRIP removes the value with the given line, or only the value.
    void add(Field field, size_t begin, size_t end, size_t line_begin, size_t line_end)
    {
        if (field != field_ || line_end <= line_begin || end < begin)
            return;
        Place place;
        place.offset = offset_ + uint32_t(begin);
        place.bytes = uint32_t(end - begin);
        place.line_offset = offset_ + uint32_t(line_begin);
        place.line_bytes = uint32_t(line_end - line_begin);
        place.shape = Shape::kText;
        places_.push_back(place);
    }
    void add(Field field, size_t begin, size_t end) { add(field, begin, end, begin, end); }

    void read_request(const Line &line)
    {
        const std::string_view first = text_.substr(0, line.end);
        const size_t method_end = first.find(' ', line.begin);
        const size_t uri = std::min(first.find_first_not_of(' ', method_end), line.end);
        const size_t version = first.rfind(" HTTP/");
        const bool has_version = version != std::string_view::npos && version >= method_end;
        add(Field::kMethod, line.begin, method_end);
        add(Field::kUri, uri, has_version ? std::max(version, uri) : line.end);
        if (has_version)
            add(Field::kHttpVersion, version + 1, line.end);
        body_bytes_ = 0;
    }

    void read_response(const Line &line)
    {
        const std::string_view first = text_.substr(0, line.end);
        const size_t version_end = first.find(' ', line.begin);
        const size_t code = std::min(first.find_first_not_of(' ', version_end), line.end);
        const size_t code_end = std::min(first.find(' ', code), line.end);
        add(Field::kHttpVersion, line.begin, version_end);
        add(Field::kResponseCode, code, code_end);
        add(Field::kResponseText, std::min(code_end + 1, line.end), line.end);
        const std::string_view number = first.substr(code, code_end - code);
        const bool has_no_body = number.starts_with('1') || number == "204" || number == "304";
        body_bytes_ =
            has_no_body ? 0
                        : text_.size(); // until the connection ends, unless a header says otherwise
    }

    void read_header_lines()
    {
        while (at_ < text_.size()) {
            Line line = line_at(text_, at_);
            at_ = line.next;
            if (line.begin == line.end)
                return;
            while (line.is_whole && at_ < text_.size() &&
                   (text_[at_] == ' ' || text_[at_] == '\t')) { // folded (RFC 9112 5.2)
                const Line more = line_at(text_, at_);
                line.end = more.end;
                line.is_whole = more.is_whole;
                at_ = line.next = more.next;
            }
            read_header(line);
        }
    }

    void read_header(const Line &line)
    {
        const std::string_view all = text_.substr(line.begin, line.end - line.begin);
        const size_t colon = all.find(':');
        if (colon == std::string_view::npos)
            return;
        const std::string_view name = trimmed(all.substr(0, colon));
        const size_t value = std::min(all.find_first_not_of(" \t", colon + 1), all.size());
        if (is_header_field() && equal_without_case(name, wire_name_of(field_)))
            add(field_, line.begin + value, line.end, line.begin, line.next);
        if (equal_without_case(name, "Content-Length"))
            read_length(all.substr(value));
        else if (equal_without_case(name, "Transfer-Encoding"))
            body_bytes_ = text_.size(); // chunks: their lengths are part of the body
    }

    void read_length(std::string_view value)
    {
        uint64_t bytes = 0;
        if (std::from_chars(value.data(), value.data() + value.size(), bytes).ec == std::errc())
            body_bytes_ = size_t(std::min<uint64_t>(bytes, text_.size()));
    }

    // A reply to HEAD gives the length of a body that is absent: the next message follows.
    void read_body()
    {
        if (at_ >= text_.size() || kind_of(text_, line_at(text_, at_)) != Kind::kNone)
            return;
        const size_t end = at_ + std::min(body_bytes_, text_.size() - at_);
        add(Field::kPayload, at_, end);
        at_ = end;
    }

    Field field_;
    std::string_view text_;
    uint32_t offset_;
    Places &places_;
    size_t at_ = 0;
    Kind kind_ = Kind::kNone;
    size_t body_bytes_ = 0;
};
} // namespace

HttpStart http_start(const mapi_packet &packet, const IpLayer &layer)
{
    const std::string_view text = as_text(tcp_text(packet, layer));
    if (text.empty())
        return HttpStart::kNone;
    if (kind_of(text, line_at(text, 0)) != Kind::kNone)
        return HttpStart::kMessage;
    const uint8_t *ports = packet.data + layer.transport;
    if (is_port(half_at(ports + 2)) && goes_on_with_headers(text, true))
        return HttpStart::kRequestHeaders;
    return is_port(half_at(ports)) && goes_on_with_headers(text, false)
               ? HttpStart::kResponseHeaders
               : HttpStart::kNone;
}

void find_http_places(Field field, std::span<const uint8_t> text, uint32_t offset, HttpStart start,
                      Places &places)
{
    Messages(field, as_text(text), offset, places).find(start);
}
} // namespace mapi::anonymize
