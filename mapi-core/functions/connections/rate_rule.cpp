// SPDX-License-Identifier: MIT
#include "functions/connections/rate_rule.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "functions/connections/words.hpp"

namespace mapi::connections
{
namespace
{
uint32_t read_number(const Word &word)
{
    uint32_t number = 0;
    const char *const end = word.text.data() + word.text.size();
    const auto [stop, status] = std::from_chars(word.text.data(), end, number);
    if (status != std::errc() || stop != end || number == 0)
        throw TextError(word.offset, word.quoted() + " is not a number from 1 to 4294967295");
    return number;
}

struct Given {
    bool type = false, track = false, count = false, seconds = false;
};

void read_type(const Word &value, RateRule &rule)
{
    if (value.text == "limit")
        rule.kind = RateRule::Kind::kLimit;
    else if (value.text == "threshold")
        rule.kind = RateRule::Kind::kThreshold;
    else if (value.text == "both")
        rule.kind = RateRule::Kind::kBoth;
    else
        throw TextError(value.offset, value.quoted() + " is none of limit, threshold and both");
}

// "count 5"
void read_part(const Word &part, RateRule &rule, Given &given)
{
    const size_t end = std::min(part.text.find_first_of(" \t"), part.text.size());
    const std::string_view name = part.text.substr(0, end);
    const Word value = trimmed({part.text.substr(end), part.offset + end});
    bool *const is_given = name == "type"      ? &given.type
                           : name == "track"   ? &given.track
                           : name == "count"   ? &given.count
                           : name == "seconds" ? &given.seconds
                                               : nullptr;
    if (!is_given)
        throw TextError(part.offset,
                        part.quoted() + " is none of type, track, count and seconds with a value");
    if (std::exchange(*is_given, true))
        throw TextError(part.offset, std::string(name) + " is given twice");
    if (name == "type")
        return read_type(value, rule);
    if (name == "count" || name == "seconds") {
        (name == "count" ? rule.count : rule.seconds) = read_number(value);
        return;
    }
    if (value.text != "by_src" && value.text != "by_dst")
        throw TextError(value.offset, value.quoted() + " is neither by_src nor by_dst");
    rule.is_by_source = value.text == "by_src";
}
} // namespace

RateRule read_rate_rule(std::string_view text)
{
    RateRule rule;
    Given given;
    const std::vector<Word> parts = split({text, 0}, ";,");
    const bool is_detection = parts[0].text == "detection_filter";
    if (!is_detection && parts[0].text != "threshold")
        throw TextError(parts[0].offset,
                        parts[0].quoted() + " is neither threshold nor detection_filter");
    for (size_t i = 1; i < parts.size(); ++i) {
        if (!parts[i].text.empty())
            read_part(parts[i], rule, given);
    }
    if (is_detection && given.type)
        throw TextError(0, "detection_filter has no type");
    if (!given.track || !given.count || !given.seconds || (!is_detection && !given.type))
        throw TextError(0, is_detection ? "track, count and seconds are required"
                                        : "type, track, count and seconds are required");
    if (is_detection)
        rule.kind = RateRule::Kind::kDetection;
    return rule;
}

// A new interval begins with the first packet after the end of the last one.
bool RateState::take(const RateRule &rule, uint64_t now_s)
{
    const bool is_first = count == 0 && begin_s == 0;
    ++count;
    bool begins = is_first;
    if (!is_first && now_s >= begin_s && now_s - begin_s >= rule.seconds) {
        before = now_s - last_s > rule.seconds ? 0 : count - 1;
        count = 1;
        begins = true;
    }
    if (begins)
        begin_s = now_s;
    last_s = now_s;
    switch (rule.kind) {
    case RateRule::Kind::kLimit: return count <= rule.count;
    case RateRule::Kind::kDetection: return count > rule.count || before > rule.count;
    case RateRule::Kind::kBoth: return count == rule.count && (is_first || !begins);
    case RateRule::Kind::kThreshold: break;
    }
    if (count < rule.count)
        return false;
    count = 0;
    begin_s = now_s;
    return true;
}
} // namespace mapi::connections
