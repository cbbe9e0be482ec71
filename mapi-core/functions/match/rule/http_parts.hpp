// SPDX-License-Identifier: MIT
// HTTP parts: the payload of one packet -> the parts of the HTTP request or response in it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "match/rule/options.hpp"

namespace mapi::match::rule
{
class HttpParts
{
public:
    using Bytes = std::span<const uint8_t>;

    void clear() { has_ = 0; }
    std::optional<Bytes> find(Buffer buffer) const
    {
        return has_ >> size_t(buffer) & 1 ? std::optional<Bytes>(texts_[size_t(buffer)])
                                          : std::nullopt;
    }
    // The part, empty at first, for its bytes.
    std::vector<uint8_t> &add(Buffer buffer)
    {
        std::vector<uint8_t> &text = texts_[size_t(buffer)];
        if (!(has_ >> size_t(buffer) & 1))
            text.clear();
        has_ |= 1u << size_t(buffer);
        return text;
    }

private:
    uint32_t has_ = 0; // set of buffers
    std::array<std::vector<uint8_t>, kBuffers> texts_;
};

// Adds nothing if the payload does not begin like a request or response.
void read_http(std::span<const uint8_t> payload, HttpParts &parts);
// Whether it begins like one.  Any that read_http() takes does.
bool begins_like_http(std::span<const uint8_t> payload);

// Splits a block of header lines: the values of cookies go into kRawCookie and kCookie, the rest
// into kRawHeader and kHeader.
void add_headers(std::span<const uint8_t> block, HttpParts &parts);
// The URI without its encodings: percent, backslashes, empty, `.` and `..` segments of the path.
void normalize_uri(std::span<const uint8_t> raw, std::vector<uint8_t> &uri);

// Whether this build can read HTTP.
extern const bool kReadsHttp;
} // namespace mapi::match::rule
