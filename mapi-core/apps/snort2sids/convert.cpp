// SPDX-License-Identifier: MIT
// convert: a rule of Snort 2 -> a rule of sids, or why there is none.
#include "convert.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "body/conditions.hpp"
#include "body/option_table.hpp"
#include "body/refusal.hpp"
#include "body/values.hpp"
#include "common/command/numbers.hpp"
#include "header/filter.hpp"

namespace snort2sids
{
namespace
{
constexpr std::array<std::string_view, 11> kOnce = {"sid",      "msg",       "rev",
                                                    "gid",      "priority",  "classtype",
                                                    "flow",     "threshold", "detection_filter",
                                                    "metadata", "logto"};

// Their words are in any case in Snort, and in lower case in sids.
constexpr std::array<std::string_view, 4> kOfWords = {"ssl_version", "ssl_state", "stream_size",
                                                      "asn1"};

// Headers of packets, which a reassembled stream has not.  Snort tries such rules on packets alone.
// The same holds for what changes with each packet of a connection.
constexpr std::array<std::string_view, 14> kOfPackets = {
    "dsize", "flags",    "seq",        "ack",    "window",      "ttl",       "tos",
    "id",    "fragbits", "fragoffset", "ipopts", "ssl_version", "ssl_state", "stream_size"};

const std::map<std::string_view, unsigned> &protocols()
{
    static const std::map<std::string_view, unsigned> numbers = {
        {"ip", 0},    {"icmp", 1},   {"igmp", 2},   {"ipencap", 4}, {"tcp", 6},
        {"egp", 8},   {"igp", 9},    {"udp", 17},   {"ipv6", 41},   {"rsvp", 46},
        {"gre", 47},  {"esp", 50},   {"ah", 51},    {"eigrp", 88},  {"ospf", 89},
        {"pim", 103}, {"vrrp", 112}, {"l2tp", 115}, {"sctp", 132}};
    return numbers;
}

template <class List> bool has(const List &list, std::string_view name)
{
    return std::find(list.begin(), list.end(), name) != list.end();
}

std::string written(std::string_view name, const std::string &value)
{
    return value.empty() ? fmt::format("{};", name) : fmt::format("{}: {};", name, value);
}

class RuleBuilder
{
public:
    RuleBuilder(const Settings &settings, Protocol protocol)
        : settings_(settings), protocol_(protocol)
    {
    }

    void add(const Option &option)
    {
        const OptionKind *const kind = find_option(option.name);
        if (!kind)
            throw Refusal(option.name_offset, "unknown option",
                          command::quoted(option.name.substr(0, 100)));
        if (has(kOnce, option.name) && !seen_.insert(option.name).second)
            throw Refusal(option.name_offset, "malformed rule",
                          "\"" + option.name + "\" appears twice");
        check_has_value(option, *kind);
        add_kind(option, *kind);
    }

    Conversion build(const std::string &action, const std::string &filter)
    {
        if (id_.empty())
            throw Refusal(0, "no sid", "sids counts by the number of a rule");
        const bool is_cooked = decide_cooked();
        std::string rule = fmt::format("{} {};", settings_.copies ? "copy" : "count", filter);
        const std::string flow_value = flow_.state.empty() || flow_.direction.empty()
                                           ? flow_.state + flow_.direction
                                           : flow_.state + "," + flow_.direction;
        if (!flow_value.empty())
            rule += " " + written("flow", flow_value);
        // Snort changes flow bits after detection_filter and before threshold.
        for (const auto &part : {tests_, match_, detection_filters_, bits_, thresholds_})
            for (const std::string &text : part)
                rule += " " + text;
        rule += fmt::format(" id: {};", id_);
        for (const std::string &text : carried_)
            rule += " " + text;
        if (is_cooked)
            rule += " cooked;";
        if (action != "alert" && action != "log")
            notes_.insert(action + ": an action that a passive monitor does not take");
        return {rule, notes_};
    }

private:
    static void check_has_value(const Option &option, const OptionKind &kind)
    {
        if (kind.becomes == Becomes::kRefused || kind.becomes == Becomes::kNote)
            return;
        const bool may_lack = !kind.pattern || *kind.pattern == '|';
        if (!kind.pattern && !option.value.empty())
            throw Refusal(option.value_offset, "malformed " + option.name, "it takes no value");
        if (!may_lack && option.value.empty())
            throw Refusal(option.value_offset, "malformed " + option.name, "the value is missing");
    }

    void add_kind(const Option &option, const OptionKind &kind)
    {
        switch (kind.becomes) {
        case Becomes::kMatch: add_match(option, kind); break;
        case Becomes::kContent: add_content(option); break;
        case Becomes::kModifier: add_modifier(option, kind); break;
        case Becomes::kPcre: match_.push_back(written("pcre", pcre_value(option))); break;
        case Becomes::kText: carried_.push_back(written("msg", text_value(option))); break;
        case Becomes::kCarried: add_carried(option, kind); break;
        case Becomes::kId: id_ = number_value(option, 1); break;
        case Becomes::kFlow:
            flow_ = read_flow(option);
            flow_offset_ = option.value_offset;
            break;
        case Becomes::kFlowbits: add_flowbits(option); break;
        case Becomes::kThreshold:
            (option.name == "threshold" ? thresholds_ : detection_filters_)
                .push_back(written(option.name, rate_value(option)));
            break;
        case Becomes::kNote: add_note(option, kind); break;
        case Becomes::kRefused:
            throw Refusal(option.name_offset, fmt::format("{}: {}", kind.name, kind.remark));
        }
    }

    void add_match(const Option &option, const OptionKind &kind)
    {
        is_of_packets_ = is_of_packets_ || has(kOfPackets, option.name);
        if (option.name.starts_with("byte_") && option.value.ends_with("dce"))
            throw Refusal(option.value_offset,
                          option.name + " dce: contexts and fragments of DCE/RPC are not followed");
        std::string value = kind.pattern ? plain_value(option, kind.pattern) : "";
        if (has(kOfWords, option.name))
            std::ranges::transform(value, value.begin(), [](char letter) {
                return char(std::tolower(static_cast<unsigned char>(letter)));
            });
        if (option.name == "ip_proto")
            value = protocol_number(option, value);
        match_.push_back(written(option.name == "id" ? "ip_id" : option.name, value));
    }

    static std::string protocol_number(const Option &option, const std::string &value)
    {
        const size_t start = value.find_first_not_of("!<>");
        const std::string name = value.substr(start);
        if (std::isdigit(static_cast<unsigned char>(name[0])) != 0)
            return value;
        const auto known = protocols().find(name);
        if (known == protocols().end())
            throw Refusal(option.value_offset + start, "malformed ip_proto",
                          command::quoted(name) + " is unknown: use its number");
        return value.substr(0, start) + std::to_string(known->second);
    }

    void add_content(const Option &option)
    {
        const Content content = content_value(option);
        match_.push_back(written(option.name, content.value));
        has_content_ = true;
        for (const Option &modifier : content.modifiers) {
            const OptionKind *const kind = find_option(modifier.name);
            if (!kind || kind->becomes != Becomes::kModifier)
                throw Refusal(modifier.name_offset, "malformed " + option.name,
                              command::quoted(modifier.name.substr(0, 100)) + " is not a modifier");
            check_has_value(modifier, *kind);
            add_modifier(modifier, *kind);
        }
    }

    void add_modifier(const Option &option, const OptionKind &kind)
    {
        if (!has_content_)
            throw Refusal(option.name_offset, "malformed rule",
                          "\"" + option.name + "\" requires a content before it");
        match_.push_back(
            written(option.name, option.value.empty() ? "" : plain_value(option, kind.pattern)));
    }

    void add_carried(const Option &option, const OptionKind &kind)
    {
        const bool is_number = kind.pattern[0] != '.';
        carried_.push_back(
            written(option.name, is_number ? number_value(option, option.name == "priority" ? 1 : 0)
                                           : bare_value(option)));
    }

    void add_flowbits(const Option &option)
    {
        const Flowbits bits = read_flowbits(option);
        auto &list = bits.is_test ? tests_ : bits_;
        // What follows a noalert is not done, but Snort does all.
        const bool is_last = bits.is_test || bits.value == "noalert" || list.empty() ||
                             list.back() != written("flowbits", "noalert");
        list.insert(is_last ? list.end() : list.end() - 1, written("flowbits", bits.value));
    }

    void add_note(const Option &option, const OptionKind &kind)
    {
        const bool is_compiled =
            option.name == "metadata" && (option.value.find("engine shared") != std::string::npos ||
                                          option.value.find("soid") != std::string::npos);
        if (is_compiled)
            throw Refusal(option.value_offset, "metadata: the rule's tests are compiled code, in a "
                                               "shared object");
        notes_.insert(fmt::format("{}: {}", kind.name, kind.remark));
    }

    bool decide_cooked() const
    {
        if (flow_.is_rebuilt_only && !settings_.cooks)
            throw Refusal(flow_offset_,
                          "flow: only_stream: streams are inspected only with --cooked");
        if (flow_.is_rebuilt_only)
            return true;
        return settings_.cooks && protocol_ == Protocol::kTcp && flow_.state == "established" &&
               !flow_.is_raw_only && !is_of_packets_;
    }

    const Settings &settings_;
    Protocol protocol_;
    std::set<std::string> seen_, notes_;
    std::vector<std::string> tests_, match_, detection_filters_, bits_, thresholds_, carried_;
    std::string id_;
    Flow flow_;
    size_t flow_offset_ = 0;
    bool has_content_ = false, is_of_packets_ = false;
};
} // namespace

Identity identity_of(const std::vector<Option> &options)
{
    Identity identity;
    for (const Option &option : options) {
        if (option.name != "sid" && option.name != "gid")
            continue;
        const auto number = command::number_of<uint32_t>(option.value);
        (option.name == "sid" ? identity.number : identity.generator) = number.value_or(0);
    }
    return identity;
}

Conversion convert(const Header &header, const std::string &action,
                   const std::vector<Option> &options, const Settings &settings)
{
    if (action == "pass")
        throw Refusal(0,
                      "pass: a rule that keeps others from matching, and sids counts each alone");
    if (action == "dynamic")
        throw Refusal(0, "dynamic: rules that another rule activates count packets after an "
                         "alert, which sids has not");
    RuleBuilder builder(settings, header.protocol);
    for (const Option &option : options)
        builder.add(option);
    const auto filter = filter_of(header, settings.sees_vlans);
    if (!filter)
        throw Refusal(0, "no packet can match", "its addresses or ports exclude all");
    Conversion conversion = builder.build(action, *filter);
    if (header.has_ignored_ports)
        conversion.notes.insert("ports of ip and icmp rules: as in Snort 2.9, they have no effect");
    return conversion;
}
} // namespace snort2sids
