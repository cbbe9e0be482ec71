// SPDX-License-Identifier: MIT
// Rule parser: the text of a rule -> a Rule.
#include <algorithm>
#include <charconv>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "characters.hpp"
#include "option.hpp"
#include "rule.hpp"

namespace sids
{
namespace
{
constexpr size_t kTextMost = 1024; // bytes of a message

class Parser
{
public:
    explicit Parser(const std::shared_ptr<const SourceLine> &line) : text_(split_rule(line->text))
    {
        rule_.line = line;
    }

    Rule parse()
    {
        rule_.is_copy = text_.action.text == "copy";
        for (const Option &option : text_.options)
            take(option);
        if (rule_.id == 0)
            throw PlacedError(text_.action.at, "the rule has no id (add \"id: NUMBER;\")");
        make_steps();
        return std::move(rule_);
    }

private:
    // An option that sids does not know is one of MATCH, which refuses those that are not its own.
    void take(const Option &option)
    {
        using Take = void (Parser::*)(const Option &);
        static const std::map<std::string_view, Take> kOwn = {
            {"id", &Parser::take_number},
            {"gid", &Parser::take_number},
            {"rev", &Parser::take_number},
            {"priority", &Parser::take_number},
            {"msg", &Parser::take_text},
            {"classtype", &Parser::take_text},
            {"reference", &Parser::take_reference},
            {"cooked", &Parser::take_cooked},
            {"flow", &Parser::take_flow},
            {"flowbits", &Parser::take_bits},
            {"ssl_version", &Parser::take_fact},
            {"ssl_state", &Parser::take_fact},
            {"stream_size", &Parser::take_fact},
            {"threshold", &Parser::take_rate},
            {"detection_filter", &Parser::take_rate},
        };
        const auto own = kOwn.find(option.name.text);
        if (own != kOwn.end())
            return (this->*own->second)(option);
        match_.append(match_.is_empty() ? "" : " ");
        match_.append(option.whole.text, option.whole.at);
    }

    void need_value(const Option &option) const
    {
        if (!option.has_value)
            throw PlacedError(option.value.at,
                              fmt::format("\"{}\" requires a value", option.name.text));
    }

    void need_first(const Option &option)
    {
        const auto [place, is_first] = seen_.emplace(option.name.text, option.name.at);
        if (!is_first)
            throw PlacedError(option.name.at,
                              fmt::format("the rule has two options \"{}\"", place->first));
    }

    void take_number(const Option &option)
    {
        need_value(option);
        need_first(option);
        const std::string_view name = option.name.text, digits = option.value.text;
        const uint32_t least = name == "id" || name == "priority" ? 1 : 0;
        uint32_t number = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error != std::errc() || end != digits.data() + digits.size() || number < least)
            throw PlacedError(option.value.at,
                              fmt::format("\"{}\" is a number from {} to {}", name, least,
                                          std::numeric_limits<uint32_t>::max()));
        if (name == "id") {
            rule_.id = number;
            rule_.id_at = option.value.at;
        } else if (name == "gid")
            rule_.gid = number;
        else if (name == "rev")
            rule_.rev = number;
        else
            rule_.priority = number;
    }

    void take_text(const Option &option)
    {
        need_value(option);
        need_first(option);
        if (option.value.text.size() > kTextMost)
            throw PlacedError(option.value.at, fmt::format("\"{}\" has more than {} bytes",
                                                           option.name.text, kTextMost));
        (option.name.text == "msg" ? rule_.message : rule_.class_type) = plain_text(option.value);
    }

    void take_reference(const Option &option)
    {
        need_value(option);
        rule_.references.push_back(plain_text(option.value));
    }

    void take_cooked(const Option &option)
    {
        need_first(option);
        if (option.has_value)
            throw PlacedError(option.value.at, "\"cooked\" has no value");
        rule_.is_cooked = true;
    }

    void take_flow(const Option &option)
    {
        need_value(option);
        need_first(option);
        flow_.append(option.value.text, option.value.at);
    }

    // A test of CONNECTION, as it is.
    void take_fact(const Option &option)
    {
        need_value(option);
        facts_.append(facts_.is_empty() ? "" : "; ");
        facts_.append(option.name.text, option.name.at);
        facts_.append(":");
        facts_.append(option.value.text, option.value.at);
    }

    // "set,NAME" is "set:NAME" in the function's argument.
    void take_bits(const Option &option)
    {
        need_value(option);
        const std::string_view value = option.value.text;
        const size_t comma = value.find(',');
        const std::string_view verb = without_blanks_at_end(value.substr(0, comma));
        if (verb == "noalert" && comma == std::string_view::npos) {
            no_alert_.append(verb, option.value.at);
            return;
        }
        Argument &to = verb == "isset" || verb == "isnotset" ? asked_bits_ : changed_bits_;
        to.append(to.is_empty() ? "" : "; ");
        to.append(verb, option.value.at);
        if (comma == std::string_view::npos)
            return;
        const size_t blanks = count_blanks(value.substr(comma + 1));
        to.append(":");
        to.append(value.substr(comma + 1 + blanks), option.value.at + comma + 1 + blanks);
    }

    // "type limit, count 1" is "threshold; type limit; count 1".
    void take_rate(const Option &option)
    {
        need_value(option);
        need_first(option);
        std::string value(option.value.text);
        std::replace(value.begin(), value.end(), ',', ';');
        Argument &rate = option.name.text == "threshold" ? threshold_ : detection_;
        rate.append(option.name.text, option.name.at);
        rate.append("; ");
        rate.append(value, option.value.at);
    }

    void add(const char *function, Argument argument)
    {
        if (!argument.is_empty())
            rule_.steps.push_back({function, std::move(argument)});
    }

    static void join(Argument &first, const Argument &second)
    {
        first.append(!first.is_empty() && !second.is_empty() ? "; " : "");
        first.append(second);
    }

    // Bits are asked for behind the match options, which many rules can search for together.  As in
    // Snort, a detection filter decides whether bits are changed, and a threshold does not.
    void make_steps()
    {
        Argument filter;
        if (!text_.filter.text.empty())
            filter.append(text_.filter.text, text_.filter.at);
        add("BPF_FILTER", std::move(filter));
        join(changed_bits_, no_alert_);
        join(flow_, facts_);
        if (!asked_bits_.is_empty() || !changed_bits_.is_empty() || !flow_.is_empty())
            rule_.steps.push_back({"CONNECTION", std::move(flow_)});
        add("MATCH", std::move(match_));
        if (detection_.is_empty()) {
            join(asked_bits_, changed_bits_);
            changed_bits_ = {};
        }
        add("CONNECTION_BITS", std::move(asked_bits_));
        add("RATE_FILTER", std::move(detection_));
        add("CONNECTION_BITS", std::move(changed_bits_));
        add("RATE_FILTER", std::move(threshold_));
    }

    const RuleText text_;
    Rule rule_;
    std::map<std::string_view, size_t> seen_;
    Argument flow_, facts_, asked_bits_, changed_bits_, no_alert_, match_, detection_, threshold_;
};
} // namespace

Rule parse_rule(const std::shared_ptr<const SourceLine> &line)
{
    if (const size_t zero = line->text.find('\0'); zero != std::string::npos)
        throw PlacedError(zero, "a rule contains no byte 0 (write |00| in a content)");
    return Parser(line).parse();
}
} // namespace sids
