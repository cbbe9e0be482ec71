// SPDX-License-Identifier: MIT
// compare: a file of rules -> what each demands of the figures of a trace, or what is wrong where.
#include "analyse/compare/rules.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nslice/rules.h>

#include "analyse/compare/figure_names.hpp"

namespace nsdump
{
namespace
{
constexpr std::pair<const char *, Statistic> kStatistics[] = {
    {"mean", Statistic::kMean}, {"trimmed", Statistic::kTrimmed}, {"p50", Statistic::kP50},
    {"p90", Statistic::kP90},   {"p99", Statistic::kP99},         {"p999", Statistic::kP999},
    {"min", Statistic::kMin},   {"max", Statistic::kMax}};
// The longer ones first.
constexpr std::pair<const char *, RuleOrder> kOrders[] = {{"<=", RuleOrder::kAtMost},
                                                          {">=", RuleOrder::kAtLeast},
                                                          {"==", RuleOrder::kEqual},
                                                          {"<", RuleOrder::kBelow},
                                                          {">", RuleOrder::kAbove}};

struct Fault {
    size_t at; // byte of the line
    std::string what;
};

bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

bool is_word(char byte)
{
    return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_' || byte == '-' ||
           byte == '.' || byte == ':';
}

// Reads a line from left to right; throws Fault at the byte that is wrong.
class LineParser
{
public:
    explicit LineParser(std::string_view line) : line_(line) {}

    Rule rule();
    bool is_at_end()
    {
        skip_blanks();
        return at_ == line_.size() || line_[at_] == '#';
    }
    size_t at() const { return at_; }

private:
    void skip_blanks()
    {
        while (at_ < line_.size() && is_blank(line_[at_]))
            ++at_;
    }
    [[noreturn]] void fail(const std::string &what) const { throw Fault{at_, what}; }
    NameOrPattern name();
    NameOrPattern quoted();
    void subject(Rule &rule);
    std::string word();
    void figure(Rule &rule);
    void statistic(Rule &rule);
    void order(Rule &rule);
    void limit(Rule &rule);
    void tolerance(Rule &rule);
    double number();

    std::string_view line_;
    size_t at_ = 0;
};

NameOrPattern LineParser::quoted()
{
    NameOrPattern out{"", true};
    const size_t begin = at_++;
    while (at_ < line_.size() && line_[at_] != '"') {
        at_ += line_[at_] == '\\' && at_ + 1 < line_.size();
        out.text += line_[at_++];
    }
    if (at_ == line_.size()) {
        at_ = begin;
        fail("the name has no closing quotation mark");
    }
    ++at_;
    return out;
}

// Up to ": " or " / ", which names in quotation marks may contain.  A colon in a name, as in
// "kernel:irq", has no blank behind it.
NameOrPattern LineParser::name()
{
    skip_blanks();
    if (at_ < line_.size() && line_[at_] == '"')
        return quoted();
    const size_t begin = at_;
    size_t end = at_;
    for (; at_ < line_.size(); ++at_) {
        const bool is_last = at_ + 1 == line_.size();
        if (line_[at_] == ':' && (is_last || is_blank(line_[at_ + 1])))
            break;
        if (line_[at_] == '/' && at_ > begin && is_blank(line_[at_ - 1]) && !is_last &&
            is_blank(line_[at_ + 1]))
            break;
        if (!is_blank(line_[at_]))
            end = at_ + 1;
    }
    if (end == begin)
        fail("the name of a slice is missing (* stands for all)");
    return {std::string(line_.substr(begin, end - begin)), false};
}

void LineParser::subject(Rule &rule)
{
    rule.slice = name();
    skip_blanks();
    if (at_ < line_.size() && line_[at_] == '/') {
        ++at_;
        rule.divisor.push_back(name());
        skip_blanks();
    }
    if (at_ == line_.size() || line_[at_] != ':')
        fail("a colon and a blank are missing behind the slice (write NAME: FIGURE <= LIMIT)");
    ++at_;
}

std::string LineParser::word()
{
    skip_blanks();
    std::string out;
    for (; at_ < line_.size() && is_word(line_[at_]); ++at_)
        out += char(std::tolower(static_cast<unsigned char>(line_[at_])));
    return out;
}

void LineParser::figure(Rule &rule)
{
    skip_blanks();
    const size_t begin = at_;
    rule.figure = word();
    rule.figure_column = begin + 1;
    if (rule.figure.empty())
        fail("a figure is missing (such as net_ns, instructions or lost)");
    const bool is_count = is_count_figure(rule.figure);
    if (at_ < line_.size() && line_[at_] == '/') {
        ++at_;
        const size_t per = at_;
        const std::string unit = word();
        rule.is_per_packet = unit == "packet";
        if (unit != "packet" && unit != "slice")
            throw Fault{per, "a figure is per packet or per slice (write /packet or /slice)"};
        if (is_count)
            throw Fault{per - 1, rule.figure + " is a number, not a figure per packet or slice"};
    }
    if (rule.figure == "lost" && (!rule.slice.is_all() || !rule.divisor.empty()))
        throw Fault{begin, "records are lost by the trace, not by a slice (write *: lost)"};
    if (is_count && !rule.divisor.empty())
        throw Fault{begin, rule.figure + " has no ratio (use a figure such as net_ns)"};
}

void LineParser::statistic(Rule &rule)
{
    skip_blanks();
    const size_t begin = at_;
    const std::string text = word();
    if (text.empty())
        return;
    const auto *const found = std::find_if(std::begin(kStatistics), std::end(kStatistics),
                                           [&](const auto &one) { return text == one.first; });
    if (found == std::end(kStatistics))
        throw Fault{begin, "not a statistic (mean, trimmed, p50, p90, p99, p999, min, max)"};
    if (is_count_figure(rule.figure))
        throw Fault{begin, rule.figure + " is one number, without statistics"};
    rule.statistic = found->second;
}

void LineParser::order(Rule &rule)
{
    skip_blanks();
    for (const auto &[text, order] : kOrders)
        if (line_.substr(at_).starts_with(text)) {
            at_ += std::string_view(text).size();
            rule.order = order;
            return;
        }
    fail("a comparison is missing (<=, >=, ==, < or >)");
}

double LineParser::number()
{
    double value = 0;
    const char *const begin = line_.data() + at_;
    const auto [end, error] = std::from_chars(begin, line_.data() + line_.size(), value);
    if (error != std::errc() || !std::isfinite(value))
        fail("a number is expected here");
    at_ += size_t(end - begin);
    return value;
}

void LineParser::limit(Rule &rule)
{
    skip_blanks();
    constexpr std::string_view kBaseline = "baseline";
    if (!line_.substr(at_).starts_with(kBaseline)) {
        rule.limit = number();
        return;
    }
    rule.is_of_baseline = true;
    at_ += kBaseline.size();
}

void LineParser::tolerance(Rule &rule)
{
    skip_blanks();
    if (at_ == line_.size() || (line_[at_] != '+' && line_[at_] != '-'))
        return;
    const double sign = line_[at_++] == '+' ? 1 : -1;
    skip_blanks();
    if (at_ < line_.size() && line_[at_] == '-')
        fail("a number without sign is expected here");
    const double value = sign * number();
    const bool is_percent = at_ < line_.size() && line_[at_] == '%';
    at_ += is_percent;
    (is_percent ? rule.tolerance_percent : rule.tolerance) = value;
}

Rule LineParser::rule()
{
    Rule out;
    subject(out);
    figure(out);
    statistic(out);
    order(out);
    limit(out);
    tolerance(out);
    skip_blanks();
    const size_t begin = at_;
    if (const std::string text = word(); text == "strict")
        out.is_strict = true;
    else
        at_ = begin;
    if (!is_at_end())
        fail("nothing, a tolerance such as +0.5%, or the word strict is expected here");
    return out;
}

std::optional<size_t> forbidden_byte(std::string_view line)
{
    for (size_t at = 0; at < line.size(); ++at)
        if (const auto byte = static_cast<unsigned char>(line[at]);
            (byte < 0x20 && !is_blank(line[at])) || byte == 0x7f)
            return at;
    return std::nullopt;
}

void parse_line(std::string_view line, size_t number, RuleFile &out)
{
    LineParser parser(line);
    try {
        if (const auto byte = forbidden_byte(line))
            throw Fault{*byte, "a control character (rules are lines of text)"};
        if (parser.is_at_end())
            return;
        if (out.rules.size() == kMostRules)
            throw Fault{parser.at(), fmt::format("more than {} rules", kMostRules)};
        const size_t begin = parser.at();
        Rule rule = parser.rule();
        rule.line = number;
        size_t end = parser.at();
        while (end > begin && is_blank(line[end - 1]))
            --end;
        rule.text = line.substr(begin, end - begin);
        out.rules.push_back(std::move(rule));
    } catch (const Fault &fault) {
        out.faults.push_back({number, fault.at + 1, fault.what});
    }
}
} // namespace

bool NameOrPattern::matches(const std::string &name) const
{
    if (is_literal)
        return name == text;
    return nslice_pattern_matches(text.data(), text.data() + text.size(), name.c_str()) != 0;
}

RuleFile parse_rules(const std::string &text)
{
    constexpr std::string_view kByteOrderMark = "\ufeff"; // some editors write it
    RuleFile out;
    size_t number = 0;
    for (size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
         begin < text.size(); ++number) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        parse_line(std::string_view(text).substr(begin, end - begin), number + 1, out);
        begin = end + 1;
        if (out.faults.size() == kMostRules || out.rules.size() > kMostRules)
            break;
    }
    return out;
}

const char *order_name(RuleOrder order)
{
    for (const auto &[text, one] : kOrders)
        if (one == order)
            return text;
    return "";
}

const char *statistic_name(Statistic statistic)
{
    for (const auto &[text, one] : kStatistics)
        if (one == statistic)
            return text;
    return "";
}
} // namespace nsdump
