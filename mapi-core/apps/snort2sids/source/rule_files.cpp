// SPDX-License-Identifier: MIT
// rule_files: rule files and snort.conf -> rules in order, with the variables of their place.
#include "rule_files.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>

#include "common/command/numbers.hpp"
#include "malformed.hpp"

namespace snort2sids
{
namespace
{
constexpr size_t kMostIncludes = 32;    // one within the other
constexpr uint64_t kMostFiles = 10'000; // that include each other twice

constexpr std::array<std::string_view, 9> kActions = {
    "alert", "log", "pass", "drop", "block", "reject", "sdrop", "activate", "dynamic"};
constexpr std::array<std::string_view, 4> kProtocols = {"ip", "tcp", "udp", "icmp"};
// Of snort.conf; they make no rule.
constexpr std::array<std::string_view, 18> kSettings = {"config",           "preprocessor",
                                                        "output",           "dynamicpreprocessor",
                                                        "dynamicengine",    "dynamicdetection",
                                                        "dynamicoutput",    "suppress",
                                                        "threshold",        "event_filter",
                                                        "rate_filter",      "attribute_table",
                                                        "sidechannel",      "file",
                                                        "decoder",          "pkt_thread",
                                                        "detection_filter", "filename"};

template <class List> bool has(const List &list, std::string_view word)
{
    return std::find(list.begin(), list.end(), word) != list.end();
}

size_t skip_spaces(std::string_view text, size_t at)
{
    return std::min(text.find_first_not_of(" \t", at), text.size());
}

std::string lower(std::string_view text)
{
    std::string word(text);
    for (char &letter : word)
        letter = char(std::tolower(static_cast<unsigned char>(letter)));
    return word;
}

std::string_view word_at(std::string_view text, size_t at)
{
    const size_t end = std::min(text.find_first_of(" \t({:", at), text.size());
    return text.substr(at, end - at);
}
} // namespace

void RuleFiles::report(const Line &line, size_t offset, const std::string &what)
{
    const auto [known, is_new] = problem_of_.try_emplace(what, problems_.size());
    if (is_new)
        problems_.push_back({line.place(offset), what});
    else
        ++problems_[known->second].lines;
}

void RuleFiles::read(const std::string &path)
{
    Lines lines(path);
    read_lines(lines, path);
}

void RuleFiles::read_text(const std::string &name, const std::string &text)
{
    Lines lines(name, text);
    read_lines(lines, name);
}

void RuleFiles::read_config(const std::string &path)
{
    is_config_ = true;
    read(path);
    is_config_ = false;
}

void RuleFiles::read_lines(Lines &lines, const std::string &path)
{
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(path, error);
    open_.push_back(error ? path : real.string());
    while (const auto line = has_too_many_problems() ? std::nullopt : lines.next()) {
        if (line->text.find('\0') != std::string::npos)
            report(*line, line->text.find('\0'), "a byte of zero: this is not text");
        else if (line->text.starts_with('#') || line->text.starts_with(';'))
            read_commented(*line);
        else if (!line->text.empty())
            read_line(lines, *line, path);
    }
    open_.pop_back();
}

void RuleFiles::read_line(Lines &lines, const Line &line, const std::string &path)
{
    const std::string word = lower(word_at(line.text, 0));
    const auto own = rule_types_.find(word);
    try {
        if (has(kActions, word))
            take(line, 0, word);
        else if (own != rule_types_.end())
            take(line, 0, own->second);
        else
            read_directive(lines, line, word, path);
    } catch (const Malformed &error) {
        report(line, error.offset, error.what());
    }
}

void RuleFiles::take(const Line &line, size_t start, const std::string &action)
{
    if (is_config_)
        ++skipped_["rules of --config"];
    else
        take_({line, start, action});
}

void RuleFiles::read_directive(Lines &lines, const Line &line, std::string_view word,
                               const std::string &path)
{
    const size_t value = skip_spaces(line.text, word.size());
    if (word == "var" || word == "ipvar" || word == "portvar")
        read_variable(line, value);
    else if (word == "include")
        include(line, value, path);
    else if (word == "ruletype")
        read_rule_type(lines, line, value);
    else if (has(kSettings, word))
        ++skipped_[std::string(word)];
    else
        throw Malformed(0, command::quoted(std::string(word_at(line.text, 0).substr(0, 100))) +
                               " begins neither a rule nor a directive of Snort 2");
}

void RuleFiles::read_variable(const Line &line, size_t start)
{
    // A comment may follow: no value has a "#".
    const std::string_view text = std::string_view(line.text).substr(0, line.text.find('#', start));
    const std::string_view name = word_at(text, start);
    if (!is_variable_name(name))
        throw Malformed(start, "the name of a variable has letters, digits and _");
    const size_t value = skip_spaces(text, start + name.size());
    if (value == text.size())
        throw Malformed(value, "the value is missing");
    const size_t end = text.find_last_not_of(" \t") + 1;
    try {
        variables_.define(std::string(name), text.substr(value, end - value));
    } catch (const Malformed &error) {
        throw Malformed(value + error.offset, error.what());
    }
}

// ruletype NAME { type ACTION output ... }, in one or several lines.
void RuleFiles::read_rule_type(Lines &lines, const Line &line, size_t start)
{
    const std::string name(word_at(line.text, start));
    std::string block = line.text.substr(start + name.size());
    while (block.find('}') == std::string::npos) {
        const auto next = lines.next();
        if (!next)
            throw Malformed(start, "\"}\" of the ruletype is missing");
        block += " " + next->text;
    }
    const size_t type = block.find("type ");
    const std::string action =
        type == std::string::npos ? "" : std::string(word_at(block, skip_spaces(block, type + 5)));
    if (!has(kActions, action))
        throw Malformed(start, "the ruletype has no type that is an action of Snort 2");
    rule_types_[lower(name)] = action;
}

// A rule that is commented out has an action and a protocol.
void RuleFiles::read_commented(const Line &line)
{
    if (!takes_commented_)
        return;
    const size_t start = std::min(line.text.find_first_not_of("#; \t"), line.text.size());
    const std::string action = lower(word_at(line.text, start));
    const size_t second = skip_spaces(line.text, start + action.size());
    if (!has(kActions, action) || !has(kProtocols, lower(word_at(line.text, second))))
        return;
    try {
        take(line, start, action);
    } catch (const Malformed &) {
        ++skipped_["comments that are no rules"];
    }
}

void RuleFiles::include(const Line &line, size_t start, const std::string &path)
{
    if (is_config_) {
        ++skipped_["include of --config"];
        return;
    }
    std::string name;
    try {
        name = variables_.expand(line.text.substr(start));
    } catch (const Malformed &error) {
        throw Malformed(start + error.offset, error.what());
    }
    std::filesystem::path target = name;
    if (target.is_relative())
        target = std::filesystem::path(path).parent_path() / target;
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(target, error);
    if (++file_count_ > kMostFiles || open_.size() >= kMostIncludes ||
        has(open_, error ? target.string() : real.string()))
        throw Malformed(start, "the file includes itself, or there are too many includes");
    try {
        read(target.string());
    } catch (const Malformed &) {
        throw;
    } catch (const std::runtime_error &failure) {
        throw Malformed(start, failure.what());
    }
}
} // namespace snort2sids
