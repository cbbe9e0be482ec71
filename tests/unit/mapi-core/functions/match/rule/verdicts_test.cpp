// SPDX-License-Identifier: MIT
// Rules of Snort 2.2.0 over packets made for them: the verdicts of Snort 2.9.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "match/bpf/bpf_program.hpp"
#include "match/rule/evaluation.hpp"
#include "match/rule/parse/parse.hpp"
#include "support/catch.hpp"
#include "support/requires.hpp"
#include "support/snort_rules.hpp"
#include "unit/mapi-core/functions/match/captures.hpp"

namespace
{
using namespace mapi::match;

using Alerts = std::set<std::pair<size_t, uint32_t>>; // packet, rule

Alerts read_alerts(const nlohmann::json &by_packet)
{
    Alerts alerts;
    for (const auto &[packet, sids] : by_packet.items()) {
        for (const uint32_t sid : sids)
            alerts.emplace(std::stoul(packet), sid);
    }
    return alerts;
}

Alerts find_alerts(const std::vector<test_support::SnortRule> &rules,
                   const match_test::Capture &capture)
{
    Alerts alerts;
    for (const test_support::SnortRule &listed : rules) {
        const rule::Rule parsed = rule::parse(listed.options);
        const BpfProgram header = BpfProgram::compile(listed.filter, capture.link_type, 0);
        rule::PacketTexts texts;
        for (size_t i = 0; i < capture.packets.size(); ++i) {
            mapi_packet packet = capture.packets[i];
            packet.link_type = uint16_t(capture.link_type);
            if (!header.matches(packet.data, packet.caplen, packet.wire_len))
                continue;
            texts.begin(packet);
            if (rule::evaluate(parsed, texts) == rule::Verdict::kMatch)
                alerts.emplace(i, listed.sid);
        }
    }
    return alerts;
}

Alerts without(const Alerts &alerts, const Alerts &others)
{
    Alerts left;
    std::set_difference(alerts.begin(), alerts.end(), others.begin(), others.end(),
                        std::inserter(left, left.end()));
    return left;
}
} // namespace

TEST_CASE("rules raise the alerts that Snort 2.9 raises", "[match][rule]")
{
    const std::filesystem::path data = test_support::shared_data() / "rule-packets";
    std::ifstream file(data / "expected.json");
    if (!file)
        return test_support::skip("no rule-packets in shared data");
    const nlohmann::json expected = nlohmann::json::parse(file);
    const auto rules = test_support::read_snort_rules(data / "snort220_AB.rules");
    const auto capture = match_test::Capture::read(data / "rp_snort220.pcap");
    REQUIRE(capture.packets.size() == expected["packets"]);
    const Alerts disputed = read_alerts(expected["disputed_by_bruteforce"]);
    const Alerts wanted = without(read_alerts(expected["snort_alerts_by_packet"]), disputed);
    const Alerts found = without(find_alerts(rules, capture), disputed);

    CHECK(without(wanted, found) == Alerts());
    CHECK(without(found, wanted) == Alerts());
    CHECK(wanted.size() > 3000);
}
