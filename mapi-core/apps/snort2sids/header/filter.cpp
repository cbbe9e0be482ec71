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

// The least number of networks that make up the set.
template <class Number>
std::vector<std::string> networks(const IntervalSet<Number> &set, const std::string &direction)
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
            terms.push_back(host_bits == 0
                                ? fmt::format("{} host {}", direction, address_text(least))
                                : fmt::format("{} net {}/{}", direction, address_text(least),
                                              kBits - host_bits));
            if (range.most - least == mask)
                break;
            least = Number(least + mask + 1);
        }
    }
    return terms;
}

// The set or what it leaves out, whichever is shorter.
template <class Number>
std::string address_term(const IntervalSet<Number> &set, const std::string &direction)
{
    if (set.is_full())
        return "";
    const auto in = networks(set, direction);
    const auto out = networks(set.complement(), direction);
    return out.size() < in.size() ? "not " + join(out, "or") : join(in, "or");
}

// Of one version of IP, whose name begins the term; nothing if no address is left.
template <class Number>
std::optional<std::string> version_term(const IntervalSet<Number> &from,
                                        const IntervalSet<Number> &to, const std::string &version)
{
    if (from.is_empty() || to.is_empty())
        return std::nullopt;
    return both(version,
                both(address_term(from, version + " src"), address_term(to, version + " dst")));
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
        term += fmt::format(" and not ip[6:2] & {} != 0",
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
} // namespace

std::optional<std::string> filter_of(const Header &header)
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
} // namespace snort2sids
