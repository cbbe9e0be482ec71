// SPDX-License-Identifier: MIT
// Substitution: REGEXP with PCRE2, ignoring case as in MAPI 2, and with limits so that no packet
// takes long.
#include "anonymize/transform/substitution.hpp"

#include <algorithm>
#include <stdexcept>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "anonymize/transform/transformer.hpp"

namespace mapi::anonymize
{
namespace
{
// Steps and memory of one search; only a malicious packet needs more.
constexpr uint32_t kSteps = 100000;
constexpr uint32_t kHeapKib = 1024;

template <auto release> struct Release {
    template <class Object> void operator()(Object *object) const { release(object); }
};
using Code = std::unique_ptr<pcre2_code, Release<pcre2_code_free>>;

Code compile(const std::string &expression)
{
    int error = 0;
    PCRE2_SIZE offset = 0;
    const auto *text = reinterpret_cast<PCRE2_SPTR>(expression.data());
    Code code(pcre2_compile(text, expression.size(), PCRE2_CASELESS, &error, &offset, nullptr));
    if (code)
        return code;
    PCRE2_UCHAR message[256] = {};
    pcre2_get_error_message(error, message, sizeof message);
    throw RuleError(RulePart::kParameters, "\"" + expression +
                                               "\": " + reinterpret_cast<const char *>(message) +
                                               " at offset " + std::to_string(offset));
}

class Substitution : public Transformer
{
public:
    explicit Substitution(const Rule &rule)
        : replacements_(rule.replacements), code_(compile(rule.text)),
          match_(pcre2_match_data_create_from_pattern(code_.get(), nullptr)),
          limits_(pcre2_match_context_create(nullptr))
    {
        if (!match_ || !limits_)
            throw std::bad_alloc();
        pcre2_set_match_limit(limits_.get(), kSteps);
        pcre2_set_heap_limit(limits_.get(), kHeapKib);
        pcre2_jit_compile(code_.get(),
                          PCRE2_JIT_COMPLETE); // optional: the interpreter works without it
    }

    Outcome transform(std::span<uint8_t> field, std::vector<uint8_t> &other) override
    {
        const int found =
            pcre2_match(code_.get(), field.data(), field.size(), 0, 0, match_.get(), limits_.get());
        if (found == PCRE2_ERROR_NOMATCH)
            return Outcome::kInPlace;
        if (found < 0)
            return Outcome::kUnknown;
        build(field, size_t(found), other);
        return Outcome::kOther;
    }

private:
    // A group inside a replaced group disappears with it; groups before it in the text
    // (look-behind) stay.
    void build(std::span<const uint8_t> field, size_t found, std::vector<uint8_t> &other)
    {
        const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(match_.get());
        order_.clear();
        for (size_t group = 1; group < found; ++group)
            if (ends[2 * group] != PCRE2_UNSET && ends[2 * group] <= ends[2 * group + 1] &&
                replacements_[group - 1])
                order_.push_back(group);
        std::ranges::stable_sort(order_, {}, [&](size_t group) { return ends[2 * group]; });
        size_t at = 0;
        for (const size_t group : order_) {
            if (ends[2 * group] < at)
                continue;
            other.insert(other.end(), field.begin() + long(at),
                         field.begin() + long(ends[2 * group]));
            other.insert(other.end(), replacements_[group - 1]->begin(),
                         replacements_[group - 1]->end());
            at = ends[2 * group + 1];
        }
        other.insert(other.end(), field.begin() + long(at), field.end());
    }

    std::vector<std::optional<std::string>> replacements_;
    Code code_;
    std::unique_ptr<pcre2_match_data, Release<pcre2_match_data_free>> match_;
    std::unique_ptr<pcre2_match_context, Release<pcre2_match_context_free>> limits_;
    std::vector<size_t> order_;
};
} // namespace

void check_expression(const std::string &expression, size_t groups)
{
    const Code code = compile(expression);
    uint32_t has = 0;
    pcre2_pattern_info(code.get(), PCRE2_INFO_CAPTURECOUNT, &has);
    if (has != groups)
        throw RuleError(RulePart::kParameters, "the expression has " + std::to_string(has) +
                                                   " groups, not " + std::to_string(groups));
}

std::unique_ptr<Transformer> make_substitution(const Rule &rule)
{
    return std::make_unique<Substitution>(rule);
}
} // namespace mapi::anonymize
