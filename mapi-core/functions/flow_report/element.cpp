// SPDX-License-Identifier: MIT
// Element: the table of elements (IANA registry "IPFIX Information Elements"; RFC 3954 8), and how
// they are encoded.
#include "functions/flow_report/element.hpp"

#include <algorithm>
#include <bit>

#include "functions/common/ntp_time.hpp"

namespace mapi::functions
{
namespace
{
using Flow = EndedFlow;
using Settings = ReportSettings;
constexpr uint64_t kNsPerUs = 1000, kNsPerMs = 1000000, kNsPerSecond = 1000000000;

uint32_t word(const uint8_t *at)
{
    return uint32_t(at[0]) << 24 | uint32_t(at[1]) << 16 | uint32_t(at[2]) << 8 | at[3];
}

// NTP time, rounded up: readers that truncate it to nanoseconds get the original value.
uint64_t ntp_ns(uint64_t time_ns)
{
    return !has_ntp_time(time_ns)
               ? kNoNtpTime
               : ntp_time(time_ns) + ((time_ns % kNsPerSecond << 32) % kNsPerSecond != 0);
}

// The same in whole microseconds; the last 11 bits are zero (RFC 7011 6.1.9).
uint64_t ntp_us(uint64_t time_ns)
{
    constexpr uint64_t kUnused = 0x7ff;
    return has_ntp_time(time_ns) ? (ntp_ns(time_ns - time_ns % kNsPerUs) + kUnused) & ~kUnused
                                 : kNoNtpTime & ~kUnused;
}

// In 32 bits; times after 2106 become the largest value.
uint64_t seconds(uint64_t time_ns)
{
    return std::min<uint64_t>(time_ns / kNsPerSecond, UINT32_MAX);
}

#define VALUE(expression)                              \
    [](const Flow &f, const Settings &s) -> uint64_t { \
        return (void)f, (void)s, uint64_t(expression); \
    },                                                 \
        nullptr
#define FIELD(expression) nullptr, [](const Flow &f) -> const uint8_t * { return expression; }

constexpr Element kElements[] = {
    {"BYTES", "octetDeltaCount", 1, 8, Element::kAny, VALUE(f.flow.values.bytes)},
    {"PKTS", "packetDeltaCount", 2, 8, Element::kAny, VALUE(f.flow.packets)},
    {"PROT", "protocolIdentifier", 4, 1, Element::kAny, VALUE(f.flow.key.protocol)},
    {"TOS", "ipClassOfService", 5, 1, Element::kAny, VALUE(f.flow.values.type_of_service)},
    {"TCP_FLAGS", "tcpControlBits", 6, 1, Element::kAny, VALUE(f.flow.values.tcp_flags)},
    {"L4_SRC_PORT", "sourceTransportPort", 7, 2, Element::kAny, VALUE(f.flow.key.source_port)},
    {"IP_SRC_ADDR", "sourceIPv4Address", 8, 4, Element::kIpv4, VALUE(word(f.flow.key.source)),
     "IPV6_SRC_ADDR"},
    {"INGRESS", "ingressInterface", 10, 4, Element::kAny,
     VALUE(s.ingress_interface.value_or(f.flow.values.interface))},
    {"L4_DST_PORT", "destinationTransportPort", 11, 2, Element::kAny,
     VALUE(f.flow.key.destination_port)},
    {"IP_DST_ADDR", "destinationIPv4Address", 12, 4, Element::kIpv4,
     VALUE(word(f.flow.key.destination)), "IPV6_DST_ADDR"},
    {"EGRESS", "egressInterface", 14, 4, Element::kAny, VALUE(s.egress_interface)},
    {"LAST_SWITCHED", "flowEndSysUpTime", 21, 4, Element::kAny,
     VALUE(uptime_ms(f.boot_ns, f.flow.last_ns))},
    {"FIRST_SWITCHED", "flowStartSysUpTime", 22, 4, Element::kAny,
     VALUE(uptime_ms(f.boot_ns, f.flow.first_ns))},
    {"MIN_PKT_LNGTH", "minimumIpTotalLength", 25, 4, Element::kAny,
     VALUE(f.flow.values.least_bytes)},
    {"MAX_PKT_LNGTH", "maximumIpTotalLength", 26, 4, Element::kAny,
     VALUE(f.flow.values.greatest_bytes)},
    {"IPV6_SRC_ADDR", "sourceIPv6Address", 27, 16, Element::kIpv6, FIELD(f.flow.key.source),
     "IP_SRC_ADDR"},
    {"IPV6_DST_ADDR", "destinationIPv6Address", 28, 16, Element::kIpv6,
     FIELD(f.flow.key.destination), "IP_DST_ADDR"},
    {"FLOW_LABEL_IPV6", "flowLabelIPv6", 31, 4, Element::kIpv6, VALUE(f.flow.values.flow_label)},
    {"ICMP_TYPE", "icmpTypeCodeIPv4", 32, 2, Element::kIpv4, VALUE(f.flow.values.icmp_type_code),
     "ICMP_TYPE_IPV6"},
    {"ACTIVE_TIMEOUT", "flowActiveTimeout", 36, 2, Element::kAny, VALUE(s.active_seconds)},
    {"INACTIVE_TIMEOUT", "flowIdleTimeout", 37, 2, Element::kAny, VALUE(s.idle_seconds)},
    {"MIN_TTL", "minimumTTL", 52, 1, Element::kAny, VALUE(f.flow.values.least_ttl)},
    {"MAX_TTL", "maximumTTL", 53, 1, Element::kAny, VALUE(f.flow.values.greatest_ttl)},
    {"IPV4_IDENT", "fragmentIdentification", 54, 4, Element::kIpv4,
     VALUE(f.flow.values.identification)},
    {"SRC_MAC", "sourceMacAddress", 56, 6, Element::kAny, FIELD(f.flow.values.source_mac)},
    {"VLAN_TAG", "vlanId", 58, 2, Element::kAny, VALUE(f.flow.values.vlan)},
    {"IP_PROTO_VER", "ipVersion", 60, 1, Element::kAny, VALUE(f.flow.key.version)},
    {"DST_MAC", "destinationMacAddress", 80, 6, Element::kAny,
     FIELD(f.flow.values.destination_mac)},
    {"FLOW_END_REASON", "flowEndReason", 136, 1, Element::kAny, VALUE(f.reason)},
    {"ICMP_TYPE_IPV6", "icmpTypeCodeIPv6", 139, 2, Element::kIpv6,
     VALUE(f.flow.values.icmp_type_code), "ICMP_TYPE"},
    {"TEMPLATE_ID", "templateId", 145, 2, Element::kAny,
     VALUE(template_id(f.flow.key.version, f.reverse))},
    {"FLOW_ID", "flowId", 148, 8, Element::kAny, VALUE(f.flow.number)},
    {"OBSERV_DOMAIN", "observationDomainId", 149, 4, Element::kAny, VALUE(s.observation_domain)},
    {"FLOW_START_SEC", "flowStartSeconds", 150, 4, Element::kAny, VALUE(seconds(f.flow.first_ns))},
    {"FLOW_END_SEC", "flowEndSeconds", 151, 4, Element::kAny, VALUE(seconds(f.flow.last_ns))},
    {"FLOW_START_MS", "flowStartMilliseconds", 152, 8, Element::kAny,
     VALUE(f.flow.first_ns / kNsPerMs)},
    {"FLOW_END_MS", "flowEndMilliseconds", 153, 8, Element::kAny, VALUE(f.flow.last_ns / kNsPerMs)},
    {"FLOW_START_US", "flowStartMicroseconds", 154, 8, Element::kAny,
     VALUE(ntp_us(f.flow.first_ns))},
    {"FLOW_END_US", "flowEndMicroseconds", 155, 8, Element::kAny, VALUE(ntp_us(f.flow.last_ns))},
    {"FLOW_START_NS", "flowStartNanoseconds", 156, 8, Element::kAny,
     VALUE(ntp_ns(f.flow.first_ns))},
    {"FLOW_END_NS", "flowEndNanoseconds", 157, 8, Element::kAny, VALUE(ntp_ns(f.flow.last_ns))},
    {"SYSINIT_MS", "systemInitTimeMilliseconds", 160, 8, Element::kAny,
     VALUE(f.boot_ns / kNsPerMs)},
    {"FLOW_DUR_MS", "flowDurationMilliseconds", 161, 4, Element::kAny,
     VALUE((f.flow.last_ns - f.flow.first_ns) / kNsPerMs)},
    {"FLOW_DUR_US", "flowDurationMicroseconds", 162, 4, Element::kAny,
     VALUE(std::min<uint64_t>((f.flow.last_ns - f.flow.first_ns) / kNsPerUs, UINT32_MAX))},
    {"NUM_FLOWS_OBSERVED", "observedFlowTotalCount", 163, 8, Element::kAny,
     VALUE(f.observed_flows)},
    {"NUM_IGNORED_PKT", "ignoredPacketTotalCount", 164, 8, Element::kAny, VALUE(f.ignored_packets)},
    {"NUM_IGNORED_OCTETS", "ignoredOctetTotalCount", 165, 8, Element::kAny, VALUE(f.ignored_bytes)},
    {"NOTSENT_FLOWS", "notSentFlowTotalCount", 166, 8, Element::kAny, VALUE(f.unsent_flows)},
    {"NOTSENT_PKTS", "notSentPacketTotalCount", 167, 8, Element::kAny, VALUE(f.unsent_packets)},
    {"NOTSENT_OCTETS", "notSentOctetTotalCount", 168, 8, Element::kAny, VALUE(f.unsent_bytes)},
    {"TCP_SEQUENCE", "tcpSequenceNumber", 184, 4, Element::kAny, VALUE(f.flow.values.tcp_sequence)},
    {"TCP_WINDOW", "tcpWindowSize", 186, 2, Element::kAny, VALUE(f.flow.values.tcp_window)},
    {"PKTLEN_IPV4", "totalLengthIPv4", 190, 2, Element::kIpv4, VALUE(f.flow.values.ip_length)},
    {"PAYLOADLEN_IPV6", "payloadLengthIPv6", 191, 2, Element::kIpv6,
     VALUE(f.flow.values.ip_length)},
    {"HDRLEN_IPV4", "ipv4IHL", 207, 1, Element::kIpv4, VALUE(f.flow.values.ip_header_bytes / 4)},
    {"BIFLOW_DIRECTION", "biflowDirection", 239, 1, Element::kAny,
     VALUE(1)}, // by which direction was seen first
};

#undef VALUE
#undef FIELD
} // namespace

bool Element::is_reversible() const
{
    switch (number) {
    case 4:
    case 7:
    case 8:
    case 10:
    case 11:
    case 12:
    case 14:
    case 27:
    case 28: // the key, and interfaces that may be settings
    case 36:
    case 37:
    case 60:
    case 136:
    case 145:
    case 148:
    case 149:
    case 160:
    case 163:
    case 164:
    case 165:
    case 166:
    case 167:
    case 168:
    case 239: return false;
    default: return true;
    }
}

const Element *find_element(std::string_view name)
{
    for (const Element &element : kElements) {
        if (name == element.name || name == element.ipfix_name)
            return &element;
    }
    return nullptr;
}

std::string element_names()
{
    std::string names;
    for (const Element &element : kElements)
        names += (names.empty() ? "" : " ") + std::string(element.name);
    return names;
}

void append_number(std::string &to, uint64_t number, unsigned bytes, ByteOrder order)
{
    const bool is_first_great =
        order == ByteOrder::kNetwork || std::endian::native == std::endian::big;
    for (unsigned i = 0; i < bytes; ++i)
        to += char(number >> 8 * (is_first_great ? bytes - 1 - i : i));
}

void append_value(std::string &to, const Element &element, const EndedFlow &flow,
                  const ReportSettings &settings, ByteOrder order)
{
    if (element.field)
        to.append(reinterpret_cast<const char *>(element.field(flow)), element.bytes);
    else
        append_number(to, element.value(flow, settings), element.bytes, order);
}

uint32_t uptime_ms(uint64_t boot_ns, uint64_t time_ns)
{
    return uint32_t(time_ns / kNsPerMs - boot_ns / kNsPerMs);
}
} // namespace mapi::functions
