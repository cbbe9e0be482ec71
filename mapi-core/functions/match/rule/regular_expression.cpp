// SPDX-License-Identifier: MIT
// A regular expression of a rule, by PCRE2, as machine code where that is possible.
#include "match/rule/regular_expression.hpp"

#include <algorithm>
#include <new>
#include <string>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "match/rule/rule_error.hpp"

namespace mapi::match::rule
{
namespace
{
// Of one search; only a malicious packet needs more.
constexpr uint32_t kMostSteps = 100000;
constexpr uint32_t kHeapKib = 1024;
// PCRE2 does not tell how many steps a search took: it begins with few, and again with more if
// they do not suffice.
constexpr uint32_t kFirstSteps = 500;
constexpr uint32_t kGrowth = 16;

template <auto release> struct Release {
    template <class Object> void operator()(Object *object) const { release(object); }
};
} // namespace

struct RegularExpression::Code {
    std::unique_ptr<pcre2_code, Release<pcre2_code_free>> code;
    std::unique_ptr<pcre2_match_data, Release<pcre2_match_data_free>> match;
    std::unique_ptr<pcre2_match_context, Release<pcre2_match_context_free>> limits;
};

RegularExpression::RegularExpression(std::string_view text, size_t at, const ExpressionFlags &flags)
    : code_(std::make_unique<Code>())
{
    uint32_t options = 0;
    const auto add = [&](bool is_set, uint32_t option) { options |= is_set ? option : 0; };
    add(flags.ignores_case, PCRE2_CASELESS);
    add(flags.dot_matches_newline, PCRE2_DOTALL);
    add(flags.has_lines, PCRE2_MULTILINE);
    add(flags.is_extended, PCRE2_EXTENDED);
    add(flags.is_anchored, PCRE2_ANCHORED);
    add(flags.dollar_is_end, PCRE2_DOLLAR_ENDONLY);
    add(flags.is_ungreedy, PCRE2_UNGREEDY);
    const std::unique_ptr<pcre2_compile_context, Release<pcre2_compile_context_free>> context(
        pcre2_compile_context_create(nullptr));
    if (!context)
        throw std::bad_alloc();
    // as the PCRE of Snort 2.9 reads them
    pcre2_set_compile_extra_options(context.get(), PCRE2_EXTRA_BAD_ESCAPE_IS_LITERAL);
    int error = 0;
    PCRE2_SIZE offset = 0;
    code_->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), options,
                                    &error, &offset, context.get()));
    if (!code_->code) {
        PCRE2_UCHAR message[256] = {};
        pcre2_get_error_message(error, message, sizeof message);
        throw RuleError(at + offset, reinterpret_cast<const char *>(message));
    }
    pcre2_jit_compile(code_->code.get(), PCRE2_JIT_COMPLETE); // the interpreter works without it
    code_->match.reset(pcre2_match_data_create_from_pattern(code_->code.get(), nullptr));
    code_->limits.reset(pcre2_match_context_create(nullptr));
    if (!code_->match || !code_->limits)
        throw std::bad_alloc();
    pcre2_set_heap_limit(code_->limits.get(), kHeapKib);
    size_t code_bytes = 0, machine_bytes = 0;
    pcre2_pattern_info(code_->code.get(), PCRE2_INFO_SIZE, &code_bytes);
    pcre2_pattern_info(code_->code.get(), PCRE2_INFO_JITSIZE, &machine_bytes);
    memory_bytes_ = code_bytes + machine_bytes;
    uint32_t all_options = 0;
    pcre2_pattern_info(code_->code.get(), PCRE2_INFO_ALLOPTIONS, &all_options);
    matches_once_ = (all_options & PCRE2_ANCHORED) && !(all_options & PCRE2_MULTILINE);
}

RegularExpression::~RegularExpression() = default;

RegularExpression::Match RegularExpression::find(std::span<const uint8_t> bytes, size_t from,
                                                 uint32_t most_steps) const
{
    uint32_t options = 0, steps = 0;
    for (uint32_t limit = kFirstSteps; limit <= most_steps - steps;) {
        steps += limit;
        pcre2_set_match_limit(code_->limits.get(), limit);
        const int found = pcre2_match(code_->code.get(), bytes.data(), bytes.size(), from, options,
                                      code_->match.get(), code_->limits.get());
        if (found >= 0)
            return {Outcome::kFound, pcre2_get_ovector_pointer(code_->match.get())[1], steps};
        if (found == PCRE2_ERROR_NOMATCH)
            return {Outcome::kNone, 0, steps};
        if (found == PCRE2_ERROR_JIT_STACKLIMIT && options == 0)
            options = PCRE2_NO_JIT; // the interpreter has a heap
        else if (found == PCRE2_ERROR_MATCHLIMIT && limit < kMostSteps)
            limit = std::min(limit * kGrowth, kMostSteps);
        else
            break;
    }
    return {Outcome::kGivenUp, 0, steps};
}
} // namespace mapi::match::rule
