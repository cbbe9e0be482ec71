// SPDX-License-Identifier: MIT
#include "alert.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "captures/packet_time.hpp"
#include "common/command/output.hpp"
#include "common/file_error/file_error.h"
#include "sids/language/characters.hpp"
#include "time_text.hpp"

namespace sids
{
namespace
{
using Json = nlohmann::ordered_json;

constexpr uint32_t kNoPriority = 3; // severity without a priority, as in Suricata

std::string protocol_name(unsigned protocol)
{
    switch (protocol) {
    case IPPROTO_ICMP: return "ICMP";
    case IPPROTO_TCP: return "TCP";
    case IPPROTO_UDP: return "UDP";
    case IPPROTO_GRE: return "GRE";
    case IPPROTO_ESP: return "ESP";
    case IPPROTO_AH: return "AH";
    case IPPROTO_ICMPV6: return "IPv6-ICMP";
    case IPPROTO_SCTP: return "SCTP";
    default: return fmt::format("{:03}", protocol);
    }
}

std::string address_text(int family, const uint8_t *address)
{
    std::array<char, INET6_ADDRSTRLEN> text{};
    inet_ntop(family, address, text.data(), text.size());
    return text.data();
}

std::string ends_json(const mapi_packet_ends_t &ends)
{
    if (ends.family == 0)
        return "";
    const auto port = [&](const char *name, unsigned number) {
        return ends.has_ports ? fmt::format("\"{}\":{},", name, number) : std::string();
    };
    std::string text =
        fmt::format("\"src_ip\":\"{}\",{}\"dest_ip\":\"{}\",{}\"proto\":\"{}\",",
                    address_text(ends.family, ends.source), port("src_port", ends.source_port),
                    address_text(ends.family, ends.destination),
                    port("dest_port", ends.destination_port), protocol_name(ends.protocol));
    if (ends.has_icmp)
        text += fmt::format("\"icmp_type\":{},\"icmp_code\":{},", ends.icmp_type, ends.icmp_code);
    return text;
}

std::string_view trimmed(std::string_view text)
{
    return without_blanks_at_end(text.substr(count_blanks(text)));
}

std::optional<uint32_t> whole_number(std::string_view digits)
{
    uint32_t number = 0;
    const char *const end = digits.data() + digits.size();
    const auto [last, error] = std::from_chars(digits.data(), end, number);
    return error == std::errc() && last == end ? std::optional(number) : std::nullopt;
}
} // namespace

Classification read_classification(const std::string &path)
{
    constexpr std::string_view kBegin = "config classification:";
    std::ifstream file(path);
    if (!file)
        throw command::UsageError(path + ": " + nslice_read_error(errno));
    Classification found;
    std::string line;
    for (size_t number = 1; std::getline(file, line); ++number) {
        const std::string_view text = trimmed(line);
        if (text.empty() || text.front() == '#')
            continue;
        const size_t first = text.find(','), last = text.rfind(',');
        const auto priority = last == std::string_view::npos
                                  ? std::nullopt
                                  : whole_number(trimmed(text.substr(last + 1)));
        if (!text.starts_with(kBegin) || first == last || !priority)
            throw command::UsageError(fmt::format(
                "{}:{}: \"config classification: NAME, CATEGORY, PRIORITY\" is expected", path,
                number));
        ClassType type;
        type.priority = *priority;
        type.category = trimmed(text.substr(first + 1, last - first - 1));
        found[std::string(trimmed(text.substr(kBegin.size(), first - kBegin.size())))] = type;
    }
    if (file.bad())
        throw command::UsageError(path + ": " + nslice_read_error(errno));
    return found;
}

std::string alert_rule_json(const Rule &rule, const Classification &classification)
{
    const auto type = classification.find(rule.class_type);
    const bool is_known = type != classification.end();
    const Json alert = {
        {"action", "allowed"},
        {"gid", rule.gid},
        {"signature_id", rule.id},
        {"rev", rule.rev},
        {"signature", rule.message},
        {"category", is_known ? type->second.category : rule.class_type},
        {"severity", rule.priority.value_or(is_known ? type->second.priority : kNoPriority)}};
    return "\"alert\":" + alert.dump(-1, ' ', false, Json::error_handler_t::replace) + "}\n";
}

std::string alert_line(const std::string &rule_json, const mapipkt &packet, int link_type)
{
    mapi_packet_ends_t ends = {};
    mapi_get_packet_ends(&packet, link_type, &ends);
    return fmt::format("{{\"timestamp\":\"{}\",\"event_type\":\"alert\",{}{}",
                       json_time(captures_source::ns_of_ntp(packet.ts)), ends_json(ends),
                       rule_json);
}
} // namespace sids
