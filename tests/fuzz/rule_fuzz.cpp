// SPDX-License-Identifier: MIT
// Fuzz target: options of rules and a packet -> refused, or evaluated without a byte read outside;
// a set of rules agrees with each rule by itself.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>

#include "match/rule/parse/parse.hpp"
#include "match/rule/rule_error.hpp"
#include "match/rule/set/rule_set.hpp"

namespace
{
using namespace mapi::match::rule;

// In a buffer of exactly its length, so that an access beyond it is detected.
struct ExactPacket {
    std::unique_ptr<uint8_t[]> bytes;
    mapi_packet view = {};

    ExactPacket(const uint8_t *data, size_t size) : bytes(std::make_unique<uint8_t[]>(size))
    {
        std::copy_n(data, size, bytes.get());
        view.data = bytes.get();
        view.caplen = view.wire_len = uint32_t(size);
        view.link_type = 1;
    }
};

// Parses each line; those that are refused are left out.
std::deque<Rule> rules_of(const std::string &text)
{
    std::deque<Rule> rules;
    for (size_t begin = 0; begin < text.size() && rules.size() < 32;) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        try {
            rules.push_back(parse(std::string_view(text).substr(begin, end - begin)));
        } catch (const RuleError &) {
        }
        begin = end + 1;
    }
    return rules;
}
} // namespace

// The first two bytes: length of the options, which come before the packet.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const size_t options_bytes = std::min<size_t>(data[0] | data[1] << 8, size - 2);
    const std::deque<Rule> rules =
        rules_of({reinterpret_cast<const char *>(data) + 2, options_bytes});
    const ExactPacket packet(data + 2 + options_bytes, size - 2 - options_bytes);
    RuleCounts counts;
    std::vector<RuleSet::Listed> listed;
    for (const Rule &rule : rules)
        listed.push_back({&rule, &counts});
    RuleSet set(listed);
    mapi_batch batch;
    mapi_batch_fill(&batch, &packet.view, 1);
    std::vector<bool> found(rules.size());
    for (const mapi_group_passed &passed : set.find(batch, 1))
        found[passed.instance] = true;
    PacketTexts texts;
    for (size_t i = 0; i < rules.size(); ++i) {
        texts.begin(packet.view);
        if (found[i] != (evaluate(rules[i], texts) == Verdict::kMatch))
            abort();
    }
    return 0;
}
