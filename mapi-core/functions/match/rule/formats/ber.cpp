// SPDX-License-Identifier: MIT
// BER: a stack of open elements instead of recursion; each element is read once.
#include "match/rule/formats/ber.hpp"

#include <algorithm>

namespace mapi::match::rule::ber
{
namespace
{
constexpr size_t kMostElements = 256, kDeepest = 128;
constexpr uint8_t kConstructed = 0x20, kClassAndForm = 0xe0, kTagBits = 0x1f, kLongTag = 0x1f,
                  kContinued = 0x80;
} // namespace

bool Reader::fail(Outcome outcome)
{
    outcome_ = outcome;
    return false;
}

// `end`: where what contains the element ends.  A number that does not grow has lost its first
// bits.
bool Reader::read_tag(size_t end, Element &element)
{
    element.first = bytes_[at_++];
    element.is_constructed = element.first & kConstructed;
    element.tag = element.first & kTagBits;
    if (at_ >= end)
        return fail(Outcome::kBroken);
    if (element.tag != kLongTag)
        return true;
    element.tag = 0;
    for (bool is_continued = true; is_continued;) {
        const uint32_t tag = element.tag << 7 | (bytes_[at_] & 0x7f);
        if (element.tag != 0 && tag <= element.tag)
            return fail(Outcome::kBroken);
        element.tag = tag;
        is_continued = bytes_[at_] & kContinued;
        if (++at_ >= end)
            return fail(Outcome::kBroken);
    }
    return true;
}

bool Reader::read_long_length(size_t end, Element &element)
{
    const size_t count = bytes_[at_] & 0x7f;
    if (++at_ >= end)
        return fail(Outcome::kBroken);
    for (size_t i = 0; i < count; ++i) {
        const uint32_t length = element.length << 8 | bytes_[at_];
        if (element.length != 0 && length <= element.length)
            return fail(Outcome::kTooLong);
        element.length = length;
        if (++at_ >= end)
            return (length == 0 && i + 1 == count) || fail(Outcome::kBroken);
    }
    return true;
}

bool Reader::read_length(size_t end, Element &element)
{
    const uint8_t first = bytes_[at_];
    if (first > kContinued)
        return read_long_length(end, element);
    element.is_indefinite = first == kContinued;
    element.length = element.is_indefinite ? 0 : first;
    element.is_end_mark = first == 0 && element.tag == 0 && (element.first & kClassAndForm) == 0;
    return ++at_ < end || first == 0 || fail(Outcome::kBroken);
}

bool Reader::set_content(size_t end, Element &element)
{
    const size_t rest = end - at_;
    if (element.is_indefinite && !element.is_constructed)
        return fail(Outcome::kBroken);
    element.has_content = true;
    element.content = at_;
    element.content_bytes = element.is_indefinite ? rest : std::min<size_t>(element.length, rest);
    if (element.is_constructed)
        return true;
    at_ += element.content_bytes;
    return element.length <= rest || fail(Outcome::kBroken);
}

size_t Reader::read_element()
{
    if (left_ == 0)
        return kNone;
    if (elements_.size() == kMostElements) {
        fail(Outcome::kBroken);
        return kNone;
    }
    const size_t end = at_ + left_;
    Element &element = elements_.emplace_back();
    if (!read_tag(end, element) || !read_length(end, element) || !set_content(end, element))
        return kNone;
    left_ = end - at_;
    return elements_.size() - 1;
}

size_t Reader::close_indefinite()
{
    if (open_.empty() || !elements_[open_.back()].is_indefinite)
        return kNone;
    const size_t closed = open_.back();
    open_.pop_back();
    Element &element = elements_[closed];
    element.length = uint32_t(at_ - element.content - 2);
    element.content_bytes = element.length;
    return closed;
}

// Goes down to the first element that contains no other, or that has just ended.  Returns kNone if
// an element on the way is empty, and after an error.
size_t Reader::enter(size_t element)
{
    while (element != kNone && elements_[element].is_constructed) {
        if (open_.size() == kDeepest) {
            elements_.resize(element); // what is too deep is not looked at
            fail(Outcome::kBroken);
            return kNone;
        }
        open_.push_back(element);
        if (!elements_[element].is_indefinite) {
            if (left_ < elements_[element].content_bytes) {
                fail(Outcome::kTooLong);
                return kNone;
            }
            left_ = elements_[element].content_bytes;
        }
        element = read_element();
        if (is_end_mark(element)) {
            if (const size_t closed = close_indefinite(); closed != kNone)
                return closed;
        }
    }
    return element;
}

size_t Reader::next_to(size_t element)
{
    if (element == kNone)
        return kNone;
    size_t next = read_element();
    while (is_end_mark(next) && close_indefinite() != kNone)
        next = read_element();
    return next;
}

// Goes up to the first open element that another one follows.
size_t Reader::leave()
{
    while (!open_.empty() && outcome_ == Outcome::kWhole) {
        const Element &element = elements_[open_.back()];
        const size_t read = at_ - element.content;
        if (element.content_bytes > read)
            left_ = element.content_bytes - read;
        const bool stays_open = left_ != 0 && has_ended_;
        has_ended_ = left_ == 0;
        if (!stays_open)
            open_.pop_back();
        size_t next = read_element();
        if (is_end_mark(next) && close_indefinite() != kNone)
            next = kNone;
        if (outcome_ == Outcome::kWhole && open_.empty() && next == kNone && at_ < bytes_.size()) {
            left_ = bytes_.size() - at_;
            next = read_element();
        }
        if (next != kNone)
            return next;
    }
    return kNone;
}

Outcome Reader::read()
{
    size_t element = read_element();
    while (element != kNone && outcome_ == Outcome::kWhole) {
        element = next_to(enter(element));
        if (element == kNone && outcome_ == Outcome::kWhole)
            element = leave();
    }
    return outcome_;
}
} // namespace mapi::match::rule::ber
