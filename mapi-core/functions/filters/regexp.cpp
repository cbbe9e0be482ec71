// SPDX-License-Identifier: MIT
// REGEXP: packet -> passes when a regular expression matches in it.
#include <memory>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/refuse.hpp"
#include "match/errors.hpp"
#include "match/text/regular_expression.hpp"

namespace mapi::functions
{
namespace
{
int create(const mapi_function_setup *setup, void **instance)
{
    const char *pattern = setup->arguments[0].text;
    if (!*pattern)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, "the pattern is empty");
    try {
        auto expression = match::RegularExpression::compile(pattern);
        const int refused = reserve_memory(
            setup, expression->memory_bytes()); // the size is only known after compilation
        *instance = refused ? nullptr : expression.release();
        return refused;
    } catch (const match::PatternError &error) {
        return refuse(setup, MFUNCT_INVALID_ARGUMENT,
                      std::string("\"") + pattern + "\": " + error.what());
    } catch (const std::exception &error) {
        return refuse(setup, MFUNCT_COULD_NOT_APPLY_FUNCT, error.what());
    }
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    return static_cast<match::RegularExpression *>(instance)->filter(batch->packets, mask);
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_regexp = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "REGEXP",
    .description = "passes packets that match a regular expression",
    .flags = MAPI_FUNCTION_PURE,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::match::RegularExpression>,
    .arguments = {MAPI_ARGUMENT_STRING},
};
