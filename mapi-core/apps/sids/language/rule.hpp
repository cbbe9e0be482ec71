// SPDX-License-Identifier: MIT
// Rule: what a rule says about its alerts, and the arguments of the functions that find its
// packets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "source_line.hpp"

namespace sids
{
constexpr size_t kRulesMost = 32767; // flows of a program, but for one that reads statistics

// An argument of a function, made of parts of the rule's text.
class Argument
{
public:
    // `offset`: where `text` is in the rule.
    void append(std::string_view text, size_t offset);
    // Text that is not in the rule.
    void append(std::string_view text) { text_ += text; }
    void append(const Argument &other);

    bool is_empty() const { return text_.empty(); }
    const std::string &text() const { return text_; }
    // Where a byte of the argument is in the rule.
    size_t place_of(size_t at) const;

private:
    struct Part {
        size_t at;
        size_t offset;
    };

    std::string text_;
    std::vector<Part> parts_;
};

// A function of the rule's flow with its one argument.
struct Step {
    const char *function;
    Argument argument;
};

struct Rule {
    std::shared_ptr<const SourceLine> line;
    bool is_copy = false;   // otherwise count
    bool is_cooked = false; // sees reassembled streams
    uint32_t id = 0;
    size_t id_at = 0; // where its number is in the rule
    uint32_t gid = 1;
    uint32_t rev = 0;
    std::optional<uint32_t> priority;
    std::string message;
    std::string class_type;
    std::vector<std::string> references;
    std::vector<Step> steps; // in the order of the flow

    // Whether the other rule finds the same packets and does the same with them.
    bool finds_the_same(const Rule &other) const;
};

// Throws PlacedError.
Rule parse_rule(const std::shared_ptr<const SourceLine> &line);
} // namespace sids
