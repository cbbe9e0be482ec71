// SPDX-License-Identifier: MIT
// filter: a rule's header -> the BPF filter of the packets that Snort tries the rule on.
#include "filter.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

namespace snort2sids
{
namespace
{
// Terms joined by "or" or "and"; "" is all packets.
std::string join(const std::vector<std::string> &terms, const char *word)
{
    if (terms.size() == 1)
        return terms[0];
    return fmt::format("({})", fmt::join(terms, fmt::format(" {} ", word)));
}

std::string both(const std::string &one, const std::string &two)
{
    if (one.empty() || two.empty())
        return one + two;
    return one + " and " + two;
}

std::string address_text(uint32_t address)
{
    return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255,
                       address & 255);
}

std::string address_text(Ipv6 address)
{
    in6_addr bytes{};
    for (size_t i = 16; i-- > 0; address >>= 8)
        bytes.s6_addr[i] = uint8_t(address & 255);
    std::array<char, INET6_ADDRSTRLEN> text{};
    return inet_ntop(AF_INET6, &bytes, text.data(), text.size());
}

// libpcap 1.10 makes one instruction of a mask and a comparison with 0, and then, if the filter has
// them twice, may take one's outcome for its opposite.  Other comparisons have no such fault.
std::string network_term(uint32_t address, unsigned host_bits, bool is_source)
{
    const char *const side = is_source ? "src" : "dst";
    if (host_bits == 0)
        return fmt::format("ip {} host {}", side, address_text(address));
    if (address == 0)
        return fmt::format("ip[{}:4] <= {:#x}", is_source ? 12 : 16,
                           (uint32_t(1) << host_bits) - 1);
    return fmt::format("ip {} net {}/{}", side, address_text(address), 32 - host_bits);
}

std::string network_term(Ipv6 address, unsigned host_bits, bool is_source)
{
    constexpr unsigned kWordBits = 32;
    const char *const side = is_source ? "src" : "dst";
    if (host_bits == 0)
        return fmt::format("ip6 {} host {}", side, address_text(address));
    const unsigned prefix = 128 - host_bits, whole_words = prefix / kWordBits;
    const unsigned rest_bits = host_bits % kWordBits; // of the word that the prefix divides
    const auto word =
        uint32_t(address >> (96 - kWordBits * std::min(whole_words, 3u)) & 0xffffffff);
    if (rest_bits == 0 || word != 0)
        return fmt::format("ip6 {} net {}/{}", side, address_text(address), prefix);
    std::string compared = fmt::format("ip6[{}:4] <= {:#x}", (is_source ? 8 : 24) + 4 * whole_words,
                                       (uint32_t(1) << rest_bits) - 1);
    if (whole_words == 0)
        return compared;
    return fmt::format("(ip6 {} net {}/{} and {})", side, address_text(address),
                       whole_words * kWordBits, compared);
}

// The least number of networks that make up the set.
template <class Number>
std::vector<std::string> networks(const IntervalSet<Number> &set, bool is_source)
{
    constexpr unsigned kBits = sizeof(Number) * 8;
    std::vector<std::string> terms;
    for (const Range<Number> &range : set.ranges()) {
        for (Number least = range.least;;) {
            unsigned host_bits = 0;
            Number mask = 0;
            while (host_bits < kBits) {
                const auto wider = Number(mask << 1 | 1);
                if ((least & wider) != 0 || wider > range.most - least)
                    break;
                mask = wider;
                ++host_bits;
            }
            terms.push_back(network_term(least, host_bits, is_source));
            if (range.most - least == mask)
                break;
            least = Number(least + mask + 1);
        }
    }
    return terms;
}

// The set or what it leaves out, whichever is shorter.
template <class Number> std::string address_term(const IntervalSet<Number> &set, bool is_source)
{
    if (set.is_full())
        return "";
    const auto in = networks(set, is_source);
    const auto out = networks(set.complement(), is_source);
    return out.size() < in.size() ? "not " + join(out, "or") : join(in, "or");
}

// Of one version of IP, whose name begins the term; nothing if no address is left.
template <class Number>
std::optional<std::string> version_term(const IntervalSet<Number> &from,
                                        const IntervalSet<Number> &to, const std::string &version)
{
    if (from.is_empty() || to.is_empty())
        return std::nullopt;
    return both(version, both(address_term(from, true), address_term(to, false)));
}

std::optional<std::string> addresses_term(const AddressSet &from, const AddressSet &to)
{
    if (from.is_any() && to.is_any())
        return "";
    const auto four = version_term(from.ipv4, to.ipv4, "ip");
    const auto six = version_term(from.ipv6, to.ipv6, "ip6");
    if (four && six)
        return fmt::format("(({}) or ({}))", *four, *six);
    return four ? four : six;
}

std::vector<std::string> port_terms(const PortSet &set, const std::string &direction)
{
    std::vector<std::string> terms;
    for (const auto &range : set.ranges())
        terms.push_back(
            range.least == range.most
                ? fmt::format("{} port {}", direction, range.least)
                : fmt::format("{} portrange {}-{}", direction, range.least, range.most));
    return terms;
}

std::string ports_term(const PortSet &set, const std::string &direction)
{
    if (set.is_full())
        return "";
    const auto in = port_terms(set, direction);
    const auto out = port_terms(set.complement(), direction);
    return out.size() < in.size() ? "not " + join(out, "or") : join(in, "or");
}

struct Versions {
    bool has_ipv4, has_ipv6;
};

Versions versions(const AddressSet &from, const AddressSet &to)
{
    return {!from.ipv4.is_empty() && !to.ipv4.is_empty(),
            !from.ipv6.is_empty() && !to.ipv6.is_empty()};
}

// Snort decodes what follows the IP header of whole packets, and of the first fragment of UDP.
std::string protocol_term(Protocol protocol, const Versions &versions)
{
    if (protocol == Protocol::kIp)
        return "";
    const std::string icmp = !versions.has_ipv6   ? "icmp"
                             : !versions.has_ipv4 ? "icmp6"
                                                  : "(icmp or icmp6)";
    std::string term = protocol == Protocol::kTcp   ? "tcp"
                       : protocol == Protocol::kUdp ? "udp"
                                                    : icmp;
    if (versions.has_ipv4)
        term += fmt::format(" and not ip[6:2] & {} > 0",
                            protocol == Protocol::kUdp ? "0x1fff" : "0x3fff");
    if (versions.has_ipv6)
        term += " and not ip6[6] = 44";
    return term;
}

std::optional<std::string> direction_term(const Side &from, const Side &to,
                                          const std::string &protocol)
{
    if (from.ports.is_empty() || to.ports.is_empty())
        return std::nullopt;
    const auto addresses = addresses_term(from.addresses, to.addresses);
    if (!addresses)
        return std::nullopt;
    return both(*addresses, both(ports_term(from.ports, protocol + " src"),
                                 ports_term(to.ports, protocol + " dst")));
}
std::optional<std::string> untagged_filter(const Header &header)
{
    const std::string name = header.protocol == Protocol::kTcp ? "tcp" : "udp";
    auto term = direction_term(header.from, header.to, name);
    if (!term)
        return std::nullopt;
    if (header.is_bidirectional && !(header.from == header.to)) {
        const std::string back = direction_term(header.to, header.from, name).value_or("");
        std::vector<std::string> ways = {"(" + *term + ")", "(" + back + ")"};
        std::sort(ways.begin(), ways.end());
        term = join(ways, "or");
    }
    // Without a condition on addresses, what is left of "ip" is both versions.
    if (header.protocol == Protocol::kIp && term->empty())
        return "ip or ip6";
    return both(
        protocol_term(header.protocol, versions(header.from.addresses, header.to.addresses)),
        *term);
}
} // namespace

std::optional<std::string> filter_of(const Header &header, bool sees_vlans)
{
    auto filter = untagged_filter(header);
    if (!filter || !sees_vlans)
        return filter;
    // Each "vlan" moves the places of all headers that are named after it.
    return fmt::format("({0}) or (vlan and (({0}) or (vlan and ({0}))))", *filter);
}
} // namespace snort2sids
