// SPDX-License-Identifier: MIT
// ANONYMIZEIP: packets -> copies of them with all addresses anonymized by a key, preserving
// prefixes.
#include "functions/anonymize/anonymizing.hpp"
#include "functions/catalog.hpp"

namespace mapi::functions
{
namespace
{
int create(const mapi_function_setup *setup, void **instance)
{
    std::vector<anonymize::Rule> rules;
    try {
        rules.push_back(anonymize::address_rule(setup->arguments[0].text));
    } catch (const anonymize::RuleError &error) {
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, error.what());
    }
    return create_anonymizing(setup, instance, rules);
}

constexpr mapi_function_transform kTransform = {
    .struct_size = sizeof(mapi_function_transform),
    .next_batch = next_anonymized,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_anonymizeip = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "ANONYMIZEIP",
    .description = "anonymizes all addresses with a key, preserving prefixes (Crypto-PAn)",
    .result_bytes = sizeof(mapi_anonymize_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process_anonymizing,
    .destroy = mapi::functions::destroy<mapi::functions::Anonymizing>,
    .arguments = {MAPI_ARGUMENT_STRING},
    .drops = mapi::functions::drops_of_anonymizing,
    .transform = &mapi::functions::kTransform,
};
