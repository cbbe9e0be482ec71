// SPDX-License-Identifier: MIT
#include "functions/connections/connection_rule.hpp"

#include <algorithm>

namespace mapi::connections
{
namespace
{
void read_state(const Word &word, ConnectionRule &rule, bool &is_stateless)
{
    if (word.text == "established")
        rule.is_established = true;
    else if (word.text == "not_established")
        rule.is_not_established = true;
    else if (word.text == "stateless")
        is_stateless = true;
    else if (word.text == "to_server" || word.text == "from_client")
        rule.is_to_server = true;
    else if (word.text == "to_client" || word.text == "from_server")
        rule.is_to_client = true;
    else if (word.text == "midstream")
        rule.takes_midstream = true;
    else
        throw TextError(word.offset, word.quoted() +
                                         " is none of established, not_established, stateless, "
                                         "to_server, to_client, from_server, from_client and "
                                         "midstream");
}

bool is_state(const Word &part)
{
    constexpr std::string_view kTest = "is"; // isset, isnotset
    return !part.text.starts_with(kTest);
}
} // namespace

// As in Snort, a packet whose direction is unknown goes in both.
bool ConnectionRule::accepts(const Seen &seen) const
{
    const bool is_known = seen.connection && (!seen.is_midstream || takes_midstream);
    const bool has_handshake = is_known && (seen.is_established || seen.is_midstream);
    if ((is_established && !has_handshake) || (is_not_established && has_handshake))
        return false;
    return !is_known || !(seen.is_from_client ? is_to_client : is_to_server);
}

bool ConnectionRule::accepts(const Facts &facts) const
{
    return std::ranges::all_of(fact_tests, [&](const FactTest &test) {
        return std::visit([&](const auto &one) { return one.accepts(facts); }, test);
    });
}

ConnectionRule read_connection_rule(std::string_view text, BitNames &names)
{
    ConnectionRule rule;
    bool is_stateless = false;
    for (const Word &part : split({text, 0}, ";")) {
        if (part.text.empty())
            continue;
        if (const auto test = read_fact_test(part)) {
            rule.fact_tests.push_back(*test);
            continue;
        }
        if (!is_state(part)) {
            rule.tests.push_back(read_bit_step(part, names));
            continue;
        }
        for (const Word &word : split(part, ","))
            read_state(word, rule, is_stateless);
    }
    if (int(rule.is_established) + int(rule.is_not_established) + int(is_stateless) > 1)
        throw TextError(0, "established, not_established and stateless exclude each other");
    if (rule.is_to_server && rule.is_to_client)
        throw TextError(0, "to_server and to_client exclude each other");
    return rule;
}
} // namespace mapi::connections
