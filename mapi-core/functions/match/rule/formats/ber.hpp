// SPDX-License-Identifier: MIT
// BER: bytes -> the ASN.1 elements in them, as far as they are well-formed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mapi::match::rule::ber
{
struct Element {
    uint32_t tag = 0;  // its number, of any class
    uint8_t first = 0; // the first byte of the identifier
    bool is_constructed = false;
    bool is_indefinite = false; // its end is marked
    bool is_end_mark = false;
    bool has_content = false; // `content` is a place in the bytes
    uint32_t length = 0;      // as announced; of an indefinite one once its end was found
    size_t content = 0;       // where its content begins
    size_t content_bytes = 0; // that there are
};

enum class Outcome : uint8_t { kWhole, kBroken, kTooLong };

// Elements in their order; the last one may be broken.  Limits are those of Snort 2.9: 256
// elements, of which 128 contain one another.  kTooLong: a length does not fit into 32 bits, or
// into what contains it.
class Reader
{
public:
    explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes), left_(bytes.size()) {}

    Outcome read();
    std::span<const Element> elements() const { return elements_; }

private:
    static constexpr size_t kNone = SIZE_MAX;

    // Reads the element at the current place.  Returns kNone at the end and after an error.
    size_t read_element();
    bool read_tag(size_t end, Element &element);
    bool read_length(size_t end, Element &element);
    bool read_long_length(size_t end, Element &element);
    bool set_content(size_t end, Element &element);
    bool is_end_mark(size_t element) const
    {
        return element != kNone && elements_[element].is_end_mark;
    }
    // Closes the innermost open element at its end mark.  Returns kNone if that one has a length.
    size_t close_indefinite();
    size_t enter(size_t element);
    size_t next_to(size_t element);
    size_t leave();
    bool fail(Outcome outcome);

    std::span<const uint8_t> bytes_;
    size_t at_ = 0;
    size_t left_;
    std::vector<Element> elements_;
    std::vector<size_t> open_; // elements that contain the current place
    bool has_ended_ = false;   // an element with a length; what contains it may go on
    Outcome outcome_ = Outcome::kWhole;
};
} // namespace mapi::match::rule::ber
