// SPDX-License-Identifier: MIT
// ANONYMIZE: packets -> copies of them in which each rule has changed a field in all headers.
#include <algorithm>
#include <string_view>

#include "functions/anonymize/anonymizing.hpp"
#include "functions/catalog.hpp"

namespace mapi::functions
{
namespace
{
// One rule per line, so that many rules copy a packet only once.  Throws RuleError.
int parse_rules(const mapi_function_setup *setup, std::vector<anonymize::Rule> &rules)
{
    const std::string_view text = setup->arguments[0].text;
    int line = 1;
    for (size_t at = 0; at <= text.size(); ++line) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view rule = text.substr(at, end - at);
        const bool is_last = end == text.size();
        try {
            if (!rule.empty() || (is_last && rules.empty()))
                rules.push_back(anonymize::parse_rule(rule));
        } catch (const anonymize::RuleError &error) {
            return refuse_rule(setup, error,
                               line > 1 || !is_last ? "line " + std::to_string(line) + ": " : "");
        }
        at = end + 1;
    }
    return 0;
}

int create(const mapi_function_setup *setup, void **instance)
{
    std::vector<anonymize::Rule> rules;
    if (const int error = parse_rules(setup, rules))
        return error;
    // Checksum rules run last, because the checksum covers what other rules change.
    std::stable_partition(rules.begin(), rules.end(), [](const anonymize::Rule &rule) {
        return rule.field != anonymize::Field::kChecksum;
    });
    return create_anonymizing(setup, instance, rules);
}

constexpr mapi_function_transform kTransform = {
    .struct_size = sizeof(mapi_function_transform),
    .next_batch = next_anonymized,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_anonymize = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "ANONYMIZE",
    .description = "changes a header field or the payload of packets by a rule",
    .result_bytes = sizeof(mapi_anonymize_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process_anonymizing,
    .destroy = mapi::functions::destroy<mapi::functions::Anonymizing>,
    .arguments = {MAPI_ARGUMENT_STRING},
    .drops = mapi::functions::drops_of_anonymizing,
    .transform = &mapi::functions::kTransform,
};
