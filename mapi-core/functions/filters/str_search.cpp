// SPDX-License-Identifier: MIT
// STR_SEARCH: packet -> passes when it contains a string.
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/refuse.hpp"
#include "match/errors.hpp"
#include "match/text/string_matcher.hpp"
#include "match/text/string_matcher_set.hpp"

namespace mapi::functions
{
namespace
{
constexpr char kNoCase[] = "nocase";

bool is_window_value(int64_t value)
{
    return value >= 0 && value <= std::numeric_limits<int>::max();
}

class StrSearch
{
public:
    StrSearch(std::string_view pattern, int64_t offset, int64_t depth,
              match::LetterCase letter_case)
        : matcher_(pattern, int(offset), int(depth), letter_case)
    {
        for (const std::string &text : matcher_.alternatives())
            texts_.push_back(
                {reinterpret_cast<const uint8_t *>(text.data()), uint32_t(text.size())});
        search_ = {texts_.data(), uint32_t(texts_.size()), matcher_.offset_bytes(),
                   matcher_.depth_bytes(), letter_case == match::LetterCase::kIgnored};
    }

    const match::StringMatcher &matcher() const { return matcher_; }
    const mapi_search &search() const { return search_; }

private:
    const match::StringMatcher matcher_;
    std::vector<mapi_search_text> texts_;
    mapi_search search_;
};

int create(const mapi_function_setup *setup, void **instance)
{
    const char *pattern = setup->arguments[0].text;
    const int64_t offset = setup->arguments[1].number;
    const int64_t depth = setup->arguments[2].number;
    if (!pattern || !*pattern)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, "the pattern is empty");
    if (!is_window_value(offset))
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_2,
                      "offset " + std::to_string(offset) + " is negative");
    if (!is_window_value(depth))
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_3,
                      "depth " + std::to_string(depth) + " is negative");
    const std::string letter_case =
        setup->argument_count > 3 && setup->arguments[3].kind ? setup->arguments[3].text : "";
    if (!letter_case.empty() && letter_case != kNoCase)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_4,
                      "\"" + letter_case + "\" is neither \"nocase\" nor empty");
    try {
        auto search = std::make_unique<StrSearch>(
            pattern, offset, depth,
            letter_case == kNoCase ? match::LetterCase::kIgnored : match::LetterCase::kExact);
        const int refused = reserve_memory(
            setup, search->matcher().memory_bytes()); // the size is only known after compilation
        *instance = refused ? nullptr : search.release();
        return refused;
    } catch (const match::PatternError &error) {
        return refuse(setup, error.code(), error.what());
    } catch (const std::exception &error) {
        return refuse(setup, MFUNCT_COULD_NOT_APPLY_FUNCT, error.what());
    }
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    return static_cast<const StrSearch *>(instance)->matcher().filter(batch->packets, mask);
}

int group_create(void *const *instances, uint32_t count, void **group)
{
    try {
        std::vector<const match::StringMatcher *> matchers;
        for (uint32_t i = 0; i < count; ++i)
            matchers.push_back(&static_cast<const StrSearch *>(instances[i])->matcher());
        *group = match::StringMatcherSet::make(matchers).release();
        return *group ? 0 : MFUNCT_COULD_NOT_APPLY_FUNCT;
    } catch (const std::exception &) {
        return MFUNCT_COULD_NOT_APPLY_FUNCT;
    }
}

uint32_t group_process(void *group, const mapi_batch *batch, uint64_t mask,
                       mapi_group_passed *passed)
{
    uint32_t count = 0;
    for (const match::PatternMatches &matches :
         static_cast<match::StringMatcherSet *>(group)->find(batch->packets, mask))
        passed[count++] = {matches.mask, matches.matcher};
    return count;
}

int describe(const void *instance, uint16_t, mapi_offload_step *step)
{
    step->kind = MAPI_OFFLOAD_SEARCH;
    step->search = &static_cast<const StrSearch *>(instance)->search();
    return 1;
}

constexpr mapi_function_offload kOffload = {
    .struct_size = sizeof(mapi_function_offload),
    .describe = describe,
    .add = nullptr,
};
constexpr mapi_function_group kGroup = {
    .struct_size = sizeof(mapi_function_group),
    .create = group_create,
    .process = group_process,
    .destroy = destroy<mapi::match::StringMatcherSet>,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_str_search = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "STR_SEARCH",
    .description = "passes packets that contain a string between offset and offset + depth",
    .flags = MAPI_FUNCTION_PURE | MAPI_FUNCTION_GROUP_OF_ANY_MASKS,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::StrSearch>,
    .arguments = {MAPI_ARGUMENT_STRING, MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT,
                  MAPI_OPTIONAL_COUNTED | MAPI_ARGUMENT_STRING},
    .group = &mapi::functions::kGroup,
    .offload = &mapi::functions::kOffload,
};
