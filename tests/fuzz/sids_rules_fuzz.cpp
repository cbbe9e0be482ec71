// SPDX-License-Identifier: MIT
// Fuzz target: any bytes as a rule file of sids -> rules whose arguments have places in their
// lines, or errors with a line and a caret.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "mapi-core/apps/sids/language/rule_set.hpp"

namespace
{
// Each byte of an argument that stems from the rule is there.
void check(const sids::Rule &rule)
{
    for (const sids::Step &step : rule.steps) {
        const std::string &text = step.argument.text();
        if (text.empty() || text.find('\0') != std::string::npos)
            std::abort();
        for (size_t i = 0; i < text.size(); ++i) {
            if (step.argument.place_of(i) > rule.line->text.size() + text.size())
                std::abort();
        }
    }
    if (rule.id == 0 || rule.line->text.find(std::to_string(rule.id)) == std::string::npos)
        std::abort();
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // Nothing of the machine is read: an include is not what is tested here.
    const std::string text(reinterpret_cast<const char *>(data), size);
    if (text.find("include") != std::string::npos)
        return 0;
    sids::RuleErrors errors;
    for (const sids::Rule &rule : sids::read_rules_of_text("f", text, errors))
        check(rule);
    if (errors.are_none() != errors.text().empty())
        std::abort();
    return 0;
}
