// SPDX-License-Identifier: MIT
// Option: the text of a rule -> its action, its filter and its options, with their places.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sids
{
// A part of a rule's text.
struct Word {
    size_t at = 0;
    std::string_view text;
};

struct Option {
    Word name;
    Word value;             // without blanks at its ends; empty text if there is none
    bool has_value = false; // a : follows the name
    Word whole;             // from the name to the ; at its end
};

struct RuleText {
    Word action;
    Word filter; // may be empty
    std::vector<Option> options;
};

class PlacedError : public std::runtime_error
{
public:
    PlacedError(size_t offset, const std::string &message)
        : std::runtime_error(message), offset_(offset)
    {
    }
    size_t offset() const { return offset_; }

private:
    size_t offset_;
};

// Views into `text`.  Throws PlacedError.
RuleText split_rule(std::string_view text);

// A value without its quotes, if it has any, and without the \ before an escaped character.
std::string plain_text(const Word &value);
} // namespace sids
