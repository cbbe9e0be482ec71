// SPDX-License-Identifier: MIT
// ports: "any", "80", "1024:", "!80", "[80,8080:8090,!8085]" -> the ports meant.
#include "ports.hpp"

#include <string>
#include <vector>

#include "common/command/numbers.hpp"
#include "list.hpp"
#include "snort2sids/source/malformed.hpp"

namespace snort2sids
{
namespace
{
uint16_t read_port(std::string_view text, size_t offset)
{
    const std::string copy(text);
    const bool has_digits = text.find_first_not_of("0123456789") == text.npos && !text.empty();
    // Not number_of<uint16_t>(): 010 is ten.
    const auto number = has_digits && text.size() <= 6 ? std::stoul(copy) : 65536ul;
    if (number > 65535)
        throw Malformed(offset, command::quoted(copy) + " is not a port (0 to 65535)");
    return uint16_t(number);
}

Range<uint16_t> read_range(std::string_view text, size_t offset)
{
    if (text == "any" || text == "ANY")
        return {0, 65535};
    const size_t colon = text.find(':');
    if (colon == text.npos) {
        const uint16_t port = read_port(text, offset);
        return {port, port};
    }
    if (text.size() == 1)
        throw Malformed(offset, "a range needs a port before or after the \":\"");
    const uint16_t least = colon == 0 ? uint16_t(0) : read_port(text.substr(0, colon), offset);
    const uint16_t most = colon + 1 == text.size()
                              ? uint16_t(65535)
                              : read_port(text.substr(colon + 1), offset + colon + 1);
    if (least > most)
        throw Malformed(offset, "the range of ports ends before it begins");
    return {least, most};
}
} // namespace

PortSet read_ports(std::string_view text)
{
    std::vector<Range<uint16_t>> in, out;
    read_list(text, [&](std::string_view item, size_t offset, bool is_negated) {
        (is_negated ? out : in).push_back(read_range(item, offset));
    });
    return (in.empty() ? PortSet::full() : PortSet::of(in)).minus(PortSet::of(out));
}
} // namespace snort2sids
