// SPDX-License-Identifier: MIT
// Rule: its first three parts, and whether they can be combined, as MAPI 2 defines.
#include "anonymize/rule.hpp"

#include "anonymize/rule_parameters.hpp"

namespace mapi::anonymize
{
namespace
{
std::string quoted(std::string_view text)
{
    return "\"" + std::string(text) + "\"";
}

bool is_address(Field field)
{
    return field == Field::kSourceAddress || field == Field::kDestinationAddress;
}

// A protocol also has the fields of the protocols that carry it: "TCP,TTL" is the TTL of packets
// with TCP.
bool has_field(Protocol protocol, Field field)
{
    const Group group = group_of(field);
    if (group == Group::kPayload || group == Group::kChecksum)
        return true;
    if (group == Group::kIp)
        return protocol == Protocol::kIp || field != Field::kFlow;
    switch (protocol) {
    case Protocol::kIp: return false;
    case Protocol::kTcp: return group == Group::kTcp;
    case Protocol::kUdp:
        return group == Group::kUdp || field == Field::kSourcePort ||
               field == Field::kDestinationPort;
    case Protocol::kIcmp: return group == Group::kIcmp;
    case Protocol::kHttp: return group == Group::kTcp || group == Group::kHttp;
    case Protocol::kFtp: return group == Group::kTcp || group == Group::kFtp;
    }
    return false;
}

std::string fields_of(Protocol protocol)
{
    std::string list = "PAYLOAD, CHECKSUM, " + field_names(Group::kIp);
    switch (protocol) {
    case Protocol::kIp: break;
    case Protocol::kTcp: list += ", " + field_names(Group::kTcp); break;
    case Protocol::kUdp: list += ", SRC_PORT, DST_PORT, " + field_names(Group::kUdp); break;
    case Protocol::kIcmp: list += ", " + field_names(Group::kIcmp); break;
    case Protocol::kHttp: list += ", those of TCP, and " + field_names(Group::kHttp); break;
    case Protocol::kFtp: list += ", those of TCP, and " + field_names(Group::kFtp); break;
    }
    return list;
}

// Returns null if the method can be applied to the field.
const char *what_is_wrong(Method method, Field field)
{
    if (field == Field::kVersion || field == Field::kIhl)
        return "VERSION and IHL cannot be changed: the packet would become unreadable";
    switch (method) {
    case Method::kPrefixPreserving:
    case Method::kPrefixPreservingMap:
        return is_address(field) ? nullptr : "applies only to SRC_IP and DST_IP";
    case Method::kMap:
    case Method::kMapDistribution:
        return is_resizable(field) ? "applies to numbers in IP, TCP, UDP and ICMP headers, not to "
                                     "options, payload or text"
                                   : nullptr;
    case Method::kStrip:
        return is_resizable(field)
                   ? nullptr
                   : "applies only to OPTIONS, TCP_OPTIONS, PAYLOAD and fields of HTTP and FTP";
    case Method::kReplace:
        return is_resizable(field) && field != Field::kOptions && field != Field::kTcpOptions
                   ? nullptr
                   : "applies only to PAYLOAD and fields of HTTP and FTP";
    case Method::kChecksumAdjust:
        return field == Field::kChecksum ? nullptr : "applies only to CHECKSUM";
    default: return nullptr;
    }
}

// Returns the text up to the next comma; nullopt after the last part.
std::optional<std::string_view> next_part(std::optional<std::string_view> &rest)
{
    if (!rest)
        return std::nullopt;
    const size_t comma = rest->find(',');
    const std::string_view part = rest->substr(0, comma);
    rest = comma == std::string_view::npos ? std::nullopt : std::optional(rest->substr(comma + 1));
    return part;
}

Protocol parse_protocol(std::optional<std::string_view> &rest)
{
    const std::string_view name = next_part(rest).value_or("");
    const auto protocol = protocol_named(name);
    if (!protocol)
        throw RuleError(RulePart::kProtocol,
                        quoted(name) + " is not a known protocol; available: " + protocol_names());
    return *protocol;
}

Field parse_field(std::optional<std::string_view> &rest, Protocol protocol)
{
    const auto name = next_part(rest);
    if (!name)
        throw RuleError(RulePart::kField,
                        "the field is missing (a rule is PROTO,FIELD,FUNC[,PARAMETERS])");
    const auto field = field_named(*name);
    if (!field || !has_field(protocol, *field))
        throw RuleError(RulePart::kField, quoted(*name) + " is not a field of " +
                                              std::string(name_of(protocol)) +
                                              "; available: " + fields_of(protocol));
    return *field;
}

Method parse_method(std::optional<std::string_view> &rest, Field field)
{
    const auto name = next_part(rest);
    if (!name)
        throw RuleError(RulePart::kMethod, "the function is missing; available: " + method_names());
    const auto method = method_named(*name);
    if (!method)
        throw RuleError(RulePart::kMethod,
                        quoted(*name) + " is not a known function; available: " + method_names());
    if (const char *wrong = what_is_wrong(*method, field)) // MAPI 2 reports the field here
        throw RuleError(RulePart::kField,
                        std::string(*name) + " of " + std::string(name_of(field)) + ": " + wrong);
    return *method;
}
} // namespace

Rule parse_rule(std::string_view text)
{
    std::optional<std::string_view> rest = text;
    Rule rule;
    rule.protocol = parse_protocol(rest);
    rule.field = parse_field(rest, rule.protocol);
    rule.method = parse_method(rest, rule.field);
    parse_parameters(rest, rule);
    return rule;
}

Rule address_rule(std::string_view key)
{
    Rule rule;
    rule.field = Field::kBothAddresses;
    rule.method = Method::kPrefixPreserving;
    rule.key = parse_address_key(key);
    return rule;
}

bool is_resizable(Field field)
{
    const Group group = group_of(field);
    return group == Group::kPayload || group == Group::kHttp || group == Group::kFtp ||
           field == Field::kOptions || field == Field::kTcpOptions;
}

bool may_grow(const Rule &rule)
{
    const Method method = rule.method;
    return is_resizable(rule.field) &&
           (method == Method::kReplace || method == Method::kRegexp || method == Method::kHashed);
}
} // namespace mapi::anonymize
