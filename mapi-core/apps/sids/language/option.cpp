// SPDX-License-Identifier: MIT
#include "option.hpp"

#include <fmt/format.h>

#include "characters.hpp"
#include "common/command/printable.hpp"

namespace sids
{
namespace
{
class Splitter
{
public:
    explicit Splitter(std::string_view text) : text_(text) {}

    RuleText split()
    {
        RuleText rule;
        rule.action = take_name();
        if (rule.action.text.empty())
            throw PlacedError(at_, "a rule begins with its action: count or copy");
        if (rule.action.text != "count" && rule.action.text != "copy")
            throw PlacedError(rule.action.at,
                              fmt::format("unknown action \"{}\": count or copy (snort2sids(1) "
                                          "converts rules of Snort)",
                                          rule.action.text));
        const size_t end = text_.find(';', at_);
        if (end == std::string_view::npos)
            throw PlacedError(text_.size(),
                              "a ; is missing after the filter (ACTION FILTER; OPTION; ...)");
        rule.filter = trimmed(at_, end);
        at_ = end + 1;
        for (skip_blanks(); at_ < text_.size(); skip_blanks())
            rule.options.push_back(take_option());
        return rule;
    }

private:
    void skip_blanks() { at_ += count_blanks(text_.substr(at_)); }
    Word trimmed(size_t begin, size_t end) const
    {
        const std::string_view text = text_.substr(begin, end - begin);
        const size_t blanks = count_blanks(text);
        return {begin + blanks, without_blanks_at_end(text.substr(blanks))};
    }
    Word take_name()
    {
        const size_t begin = at_;
        while (at_ < text_.size() && is_of_name(text_[at_]))
            ++at_;
        return {begin, text_.substr(begin, at_ - begin)};
    }
    // The end of a value: the next ; outside of quotes.
    size_t find_end() const
    {
        size_t quote = std::string_view::npos;
        for (size_t i = at_; i < text_.size(); ++i) {
            if (text_[i] == '\\')
                ++i;
            else if (text_[i] == '"')
                quote = quote == std::string_view::npos ? i : std::string_view::npos;
            else if (text_[i] == ';' && quote == std::string_view::npos)
                return i;
        }
        if (quote != std::string_view::npos)
            throw PlacedError(quote, "the quotation mark is not closed (add the closing one, or "
                                     "write \\\" for the character)");
        throw PlacedError(text_.size(), "a ; is missing at the end of the option");
    }
    Option take_option()
    {
        Option option;
        option.name = take_name();
        if (option.name.text.empty())
            throw PlacedError(at_, fmt::format("the name of an option is expected, not \"{}\"",
                                               command::printable(text_.substr(at_, 1))));
        skip_blanks();
        option.value.at = at_;
        if (at_ < text_.size() && text_[at_] == ':') {
            ++at_;
            const size_t end = find_end();
            option.has_value = true;
            option.value = trimmed(at_, end);
            if (option.value.text.empty())
                throw PlacedError(end, fmt::format("\"{}\" has no value (write it after the :, or "
                                                   "omit the :)",
                                                   option.name.text));
            at_ = end;
        }
        if (at_ == text_.size() || text_[at_] != ';')
            throw PlacedError(at_,
                              fmt::format("a ; or a : is expected after \"{}\"", option.name.text));
        ++at_;
        option.whole = {option.name.at, text_.substr(option.name.at, at_ - option.name.at)};
        return option;
    }

    const std::string_view text_;
    size_t at_ = 0;
};
} // namespace

RuleText split_rule(std::string_view text)
{
    return Splitter(text).split();
}

std::string plain_text(const Word &value)
{
    std::string_view text = value.text;
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
        text.remove_prefix(1);
        text.remove_suffix(1);
    }
    std::string plain;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size())
            ++i;
        plain += text[i];
    }
    return plain;
}
} // namespace sids
