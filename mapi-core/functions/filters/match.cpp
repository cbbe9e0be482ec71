// SPDX-License-Identifier: MIT
// MATCH: packet -> passes when it matches the options of a rule.
#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/refuse.hpp"
#include "match/rule/evaluation.hpp"
#include "match/rule/parse/parse.hpp"
#include "match/rule/rule_error.hpp"
#include "match/rule/set/rule_set.hpp"

namespace mapi::functions
{
namespace
{
class Match
{
public:
    explicit Match(match::rule::Rule rule) : rule_(std::move(rule)) {}

    const match::rule::Rule &rule() const { return rule_; }

    uint64_t process(const mapi_batch &batch, uint64_t mask)
    {
        // allocated: a library that is loaded late has little room for the threads' own variables
        thread_local const auto own = std::make_unique<match::rule::PacketTexts>();
        match::rule::PacketTexts &texts = *own;
        uint64_t passed = 0;
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            texts.begin(batch.packets[std::countr_zero(rest)]);
            counts_.note(texts.fields());
            const match::rule::Verdict verdict = match::rule::evaluate(rule_, texts);
            if (verdict == match::rule::Verdict::kMatch)
                passed |= rest & -rest;
            else if (verdict == match::rule::Verdict::kGivenUp)
                counts_.note_given_up();
        }
        return passed;
    }

    match::rule::RuleSet::Listed listed() { return {&rule_, &counts_}; }
    const match::rule::RuleCounts &counts() const { return counts_; }

private:
    const match::rule::Rule rule_;
    match::rule::RuleCounts counts_;
};

int create(const mapi_function_setup *setup, void **instance)
{
    const char *options = setup->arguments[0].text;
    if (!options || !*options)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, "at 0: there are no options");
    try {
        auto match = std::make_unique<Match>(match::rule::parse(options));
        const int refused = reserve_memory(
            setup, match->rule().memory_bytes); // the size is only known after compilation
        *instance = refused ? nullptr : match.release();
        return refused;
    } catch (const match::rule::RuleError &error) {
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, error.what());
    } catch (const std::exception &error) {
        return refuse(setup, MFUNCT_COULD_NOT_APPLY_FUNCT, error.what());
    }
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    return static_cast<Match *>(instance)->process(*batch, mask);
}

int group_create(void *const *instances, uint32_t count, void **group)
{
    try {
        std::vector<match::rule::RuleSet::Listed> rules;
        for (uint32_t i = 0; i < count; ++i)
            rules.push_back(static_cast<Match *>(instances[i])->listed());
        *group = new match::rule::RuleSet(std::move(rules));
        return 0;
    } catch (const std::exception &) {
        return MFUNCT_COULD_NOT_APPLY_FUNCT;
    }
}

uint32_t copy(std::span<const mapi_group_passed> from, mapi_group_passed *passed)
{
    std::copy(from.begin(), from.end(), passed);
    return uint32_t(from.size());
}

uint32_t group_process(void *group, const mapi_batch *batch, uint64_t mask,
                       mapi_group_passed *passed)
{
    return copy(static_cast<match::rule::RuleSet *>(group)->find(*batch, mask), passed);
}

uint32_t group_process_inputs(void *group, const mapi_batch *batch, const mapi_group_inputs *inputs,
                              mapi_group_passed *passed)
{
    return copy(static_cast<match::rule::RuleSet *>(group)->find(*batch, *inputs), passed);
}

void drops(const void *instance, mapi_function_drops *drops)
{
    const match::rule::RuleCounts &counts = static_cast<const Match *>(instance)->counts();
    drops->given_up = counts.given_up.load(std::memory_order_relaxed);
    drops->unread_headers = counts.unread_headers.load(std::memory_order_relaxed);
    drops->link_type = counts.unread_link_types.load(std::memory_order_relaxed);
}

constexpr mapi_function_group kGroup = {
    .struct_size = sizeof(mapi_function_group),
    .create = group_create,
    .process = group_process,
    .destroy = destroy<match::rule::RuleSet>,
    .process_inputs = group_process_inputs,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_match = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "MATCH",
    .description = "passes packets that match options of a rule in the syntax of Snort",
    .flags = MAPI_FUNCTION_PURE | MAPI_FUNCTION_GROUP_OF_ANY_MASKS,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Match>,
    .arguments = {MAPI_ARGUMENT_STRING},
    .drops = mapi::functions::drops,
    .text_bytes_max = 65536,
    .group = &mapi::functions::kGroup,
};
