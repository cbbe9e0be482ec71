// SPDX-License-Identifier: MIT
// addresses: "any", "10.0.0.0/8", "!2001:db8::/32", "[10.0.0.0/8,!10.1.0.0/16]" -> those meant.
#include "addresses.hpp"

#include <arpa/inet.h>

#include <optional>
#include <string>
#include <vector>

#include "common/command/numbers.hpp"
#include "list.hpp"
#include "snort2sids/source/malformed.hpp"

namespace snort2sids
{
namespace
{
struct Ranges {
    std::vector<Range<uint32_t>> ipv4;
    std::vector<Range<Ipv6>> ipv6;
};

template <class Number> Range<Number> network(Number address, unsigned prefix)
{
    const unsigned bits = sizeof(Number) * 8;
    const Number host =
        prefix == 0 ? Number(~Number(0)) : Number((Number(1) << (bits - prefix)) - 1);
    return {Number(address & ~host), Number(address | host)};
}

// "8", or of IPv4 "255.0.0.0".
std::optional<unsigned> read_prefix(const std::string &text, unsigned most)
{
    in_addr mask{};
    if (most == 32 && text.find('.') != text.npos && inet_pton(AF_INET, text.c_str(), &mask) == 1) {
        const uint32_t ones = ntohl(mask.s_addr);
        const unsigned prefix = unsigned(__builtin_popcount(ones));
        return network(uint32_t(0xffffffff), prefix).least == ones || prefix == 0
                   ? std::optional(prefix)
                   : std::nullopt;
    }
    if (text.empty() || text.size() > 3 || text.find_first_not_of("0123456789") != text.npos)
        return std::nullopt;
    const auto prefix = unsigned(std::stoul(text));
    return prefix <= most ? std::optional(prefix) : std::nullopt;
}

void read_address(std::string_view text, size_t offset, Ranges &ranges)
{
    if (text == "any" || text == "ANY") {
        ranges.ipv4.push_back({0, 0xffffffff});
        ranges.ipv6.push_back({0, ~Ipv6(0)});
        return;
    }
    const size_t slash = std::min(text.find('/'), text.size());
    const std::string address(text.substr(0, slash));
    const bool has_prefix = slash < text.size();
    const std::string prefix_text(has_prefix ? text.substr(slash + 1) : "");
    in_addr four{};
    in6_addr six{};
    const bool is_ipv4 = inet_pton(AF_INET, address.c_str(), &four) == 1;
    if (!is_ipv4 && inet_pton(AF_INET6, address.c_str(), &six) != 1)
        throw Malformed(offset, command::quoted(address) + " is not an IP address");
    const unsigned bits = is_ipv4 ? 32 : 128;
    const auto prefix = has_prefix ? read_prefix(prefix_text, bits) : std::optional(bits);
    if (!prefix)
        throw Malformed(offset + slash + 1, command::quoted(prefix_text) +
                                                " is not a prefix length (0 to " +
                                                std::to_string(bits) + ")");
    if (is_ipv4) {
        ranges.ipv4.push_back(network(ntohl(four.s_addr), *prefix));
        return;
    }
    Ipv6 value = 0;
    for (const uint8_t byte : six.s6_addr)
        value = value << 8 | byte;
    ranges.ipv6.push_back(network(value, *prefix));
}
} // namespace

AddressSet read_addresses(std::string_view text)
{
    Ranges in, out;
    read_list(text, [&](std::string_view item, size_t offset, bool is_negated) {
        read_address(item, offset, is_negated ? out : in);
    });
    AddressSet set;
    if (in.ipv4.empty() && in.ipv6.empty()) {
        set.ipv4 = IntervalSet<uint32_t>::full();
        set.ipv6 = IntervalSet<Ipv6>::full();
    } else {
        set.ipv4 = IntervalSet<uint32_t>::of(in.ipv4);
        set.ipv6 = IntervalSet<Ipv6>::of(in.ipv6);
    }
    set.ipv4 = set.ipv4.minus(IntervalSet<uint32_t>::of(out.ipv4));
    set.ipv6 = set.ipv6.minus(IntervalSet<Ipv6>::of(out.ipv6));
    return set;
}
} // namespace snort2sids
