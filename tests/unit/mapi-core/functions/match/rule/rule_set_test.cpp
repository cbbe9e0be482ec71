// SPDX-License-Identifier: MIT
// A set of rules has the verdicts of each rule by itself.
#include <bit>
#include <deque>
#include <random>

#include "match/rule/set/rule_set.hpp"
#include "support/catch.hpp"

#include "random_rules.hpp"

namespace
{
using namespace mapi::match::rule;
using rule_test::Bytes;
using rule_test::RuleMaker;

// Rules, packets, and which rule gets which packets.
struct Case {
    std::deque<Rule> rules;
    std::deque<RuleCounts> counts;
    std::vector<std::string> texts;
    std::vector<Bytes> frames;
    std::vector<mapi_packet> packets;
    std::vector<std::vector<uint32_t>> of_input;
    mapi_batch batch = {};

    Case(uint32_t seed, uint32_t rule_count)
    {
        std::mt19937 random(seed);
        RuleMaker maker([&](uint32_t limit) { return uint32_t(random() % limit); });
        of_input.resize(1 + random() % 9);
        for (uint32_t i = 0; i < rule_count; ++i) {
            texts.push_back(maker.options());
            rules.push_back(parse(texts.back()));
            counts.emplace_back();
            of_input[random() % of_input.size()].push_back(i);
        }
        for (int i = 0; i < MAPI_BATCH_MAX; ++i)
            frames.push_back(maker.frame());
        for (const Bytes &frame : frames)
            packets.push_back({frame.data(), uint32_t(frame.size()), uint32_t(frame.size()),
                               1000000000, 1, 0, 0});
        mapi_batch_fill(&batch, packets.data(), uint32_t(packets.size()));
    }

    std::vector<RuleSet::Listed> listed()
    {
        std::vector<RuleSet::Listed> list;
        for (size_t i = 0; i < rules.size(); ++i)
            list.push_back({&rules[i], &counts[i]});
        return list;
    }

    uint64_t alone(uint32_t rule, uint64_t mask) const
    {
        PacketTexts texts_of_packet;
        uint64_t passed = 0;
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            texts_of_packet.begin(packets[size_t(std::countr_zero(rest))]);
            passed |= evaluate(rules[rule], texts_of_packet) == Verdict::kMatch ? rest & -rest : 0;
        }
        return passed;
    }
};

std::vector<uint64_t> by_rule(std::span<const mapi_group_passed> passed, size_t rules)
{
    std::vector<uint64_t> masks(rules);
    for (const mapi_group_passed &one : passed) {
        CHECK(masks[one.instance] == 0);
        masks[one.instance] = one.mask;
    }
    return masks;
}
} // namespace

TEST_CASE("a set of rules has the verdicts of each rule by itself", "[match][rule]")
{
    uint64_t matches = 0;
    for (uint32_t seed = 1; seed <= 60; ++seed) {
        Case random(seed, seed % 3 == 0 ? 9 : 120);
        RuleSet set(random.listed());
        std::mt19937_64 masks(seed);
        for (uint64_t round = 0; round < 3; ++round) {
            std::vector<mapi_group_input> inputs;
            std::vector<uint64_t> mask_of(random.rules.size());
            for (uint32_t i = 0; i < random.of_input.size(); ++i) {
                const uint64_t some = masks();
                const uint64_t mask = some & masks();
                for (const uint32_t rule : random.of_input[i])
                    mask_of[rule] = mask;
                if (mask && !random.of_input[i].empty())
                    inputs.push_back(
                        {mask, random.of_input[i].data(), uint32_t(random.of_input[i].size()), i});
            }
            const std::vector<uint64_t> found =
                by_rule(set.find(random.batch, {inputs.data(), uint32_t(inputs.size()),
                                                uint32_t(random.of_input.size()), 1 + round / 2}),
                        random.rules.size());
            for (uint32_t rule = 0; rule < random.rules.size(); ++rule) {
                const uint64_t wanted = random.alone(rule, mask_of[rule]);
                matches += uint64_t(std::popcount(wanted));
                if (found[rule] == wanted)
                    continue;
                INFO("seed " << seed << ": " << random.texts[rule]);
                CHECK(found[rule] == wanted);
            }
        }
    }
    CHECK(matches > 10000);
}

TEST_CASE("a rule does not see what another one has decoded", "[match][rule]")
{
    const std::deque<Rule> rules = [] {
        std::deque<Rule> parsed;
        for (const char *options :
             {"base64_decode; base64_data; content:\"U\"; nocase;", "base64_data; isdataat:0;",
              "base64_data; content:\"u\"; nocase;", "base64_decode; base64_data; content:\"u\";"})
            parsed.push_back(parse(options));
        return parsed;
    }();
    RuleCounts counts;
    std::vector<RuleSet::Listed> listed;
    for (const Rule &rule : rules)
        listed.push_back({&rule, &counts});
    RuleSet set(listed);
    const Bytes frame = rule_test::tcp("dXNlcg==");
    const mapi_packet packet = {
        frame.data(), uint32_t(frame.size()), uint32_t(frame.size()), 0, 1, 0, 0};
    mapi_batch batch = {};
    mapi_batch_fill(&batch, &packet, 1);
    CHECK(by_rule(set.find(batch, 1), rules.size()) == std::vector<uint64_t>{1, 0, 0, 1});
}

TEST_CASE("each rule counts packets that it could not read or decide about", "[match][rule]")
{
    Case random(5, 12);
    std::string options;
    for (int i = 0; i < 9; ++i)
        options += "content:\"a\"; within:900;";
    random.rules[3] = parse(options + "content:\"b\"; within:1;");
    const Bytes hard = rule_test::tcp(std::string(1400, 'a'));
    const auto cut = uint32_t(40);
    random.packets[0] = {hard.data(), uint32_t(hard.size()), uint32_t(hard.size()), 0, 1, 0, 0};
    random.packets[1] = {hard.data(), cut, uint32_t(hard.size()), 0, 1, 0, 0};
    RuleSet set(random.listed());
    for (const mapi_group_passed &passed : set.find(random.batch, 3))
        CHECK(passed.instance != 3);
    CHECK(random.counts[3].given_up == 1);
    for (const RuleCounts &counts : random.counts)
        CHECK(counts.unread_headers == 1);
}

TEST_CASE("a set of rules judges packets of one mask for all rules", "[match][rule]")
{
    Case random(7, 100);
    RuleSet set(random.listed());
    const uint64_t mask = 0x123456789abcdef0;
    const std::vector<uint64_t> found = by_rule(set.find(random.batch, mask), 100);
    for (uint32_t rule = 0; rule < 100; ++rule) {
        INFO(random.texts[rule]);
        CHECK(found[rule] == random.alone(rule, mask));
    }
}

TEST_CASE("more combinations of inputs than a set remembers do not change verdicts",
          "[match][rule]")
{
    Case random(3, 120);
    random.of_input.assign(12, {});
    for (uint32_t rule = 0; rule < 120; ++rule)
        random.of_input[rule % 12].push_back(rule);
    RuleSet set(random.listed());
    for (uint32_t combination = 1; combination < 4096; combination += 3) {
        std::vector<mapi_group_input> inputs;
        const uint64_t packet = uint64_t{1} << combination % 64;
        for (uint32_t i = 0; i < 12; ++i) {
            if (combination >> i & 1)
                inputs.push_back({packet, random.of_input[i].data(), 10, i});
        }
        const std::vector<uint64_t> found =
            by_rule(set.find(random.batch, {inputs.data(), uint32_t(inputs.size()), 12, 1}), 120);
        if (combination % 97 != 0)
            continue;
        for (uint32_t rule = 0; rule < 120; ++rule) {
            const bool is_examined = combination >> rule % 12 & 1;
            INFO(combination << ": " << random.texts[rule]);
            CHECK((is_examined ? found[rule] : 0) ==
                  (is_examined ? random.alone(rule, packet) : 0));
        }
    }
}
