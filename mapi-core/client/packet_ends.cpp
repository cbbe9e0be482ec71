// SPDX-License-Identifier: MIT
// Packet ends: a packet of TO_BUFFER -> the addresses and ports of its innermost IP header.
#include <mapi/mapi.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>

#include "client/errors/last_error.hpp"
#include "engine/error.hpp"
#include "functions/headers/headers.hpp"

namespace headers = mapi::headers;

namespace
{
bool is_icmp(const headers::IpLayer &layer)
{
    return !layer.is_later_fragment &&
           layer.protocol == (layer.version == 4 ? int(IPPROTO_ICMP) : int(IPPROTO_ICMPV6));
}

mapi_packet_ends_t packet_ends(const mapipkt &packet, int link_type) noexcept
{
    mapi_packet_ends_t ends = {};
    if (link_type < 0 || link_type > UINT16_MAX)
        return ends;
    mapi_packet view = {};
    view.data = &packet.pkt;
    view.caplen = packet.caplen;
    view.wire_len = std::max(packet.wlen, packet.caplen);
    view.link_type = uint16_t(link_type);
    const headers::Headers found = headers::parse(view);
    const headers::IpLayer *const layer = found.innermost();
    if (!layer)
        return ends;
    ends.family = layer->version == 4 ? AF_INET : AF_INET6;
    ends.protocol = layer->protocol;
    std::ranges::copy(headers::source_of(view, *layer), ends.source);
    std::ranges::copy(headers::destination_of(view, *layer), ends.destination);
    if (const auto ports = headers::ports_of(view, *layer)) {
        ends.source_port = ports->source;
        ends.destination_port = ports->destination;
        ends.has_ports = 1;
    } else if (is_icmp(*layer) && view.caplen - layer->transport >= 2) {
        ends.icmp_type = view.data[layer->transport];
        ends.icmp_code = view.data[layer->transport + 1];
        ends.has_icmp = 1;
    }
    return ends;
}

void need(const void *pointer, int number, const char *what)
{
    if (!pointer)
        throw mapi::Error(number, std::string(what) + " is a null pointer");
}
} // namespace

int mapi_get_packet_ends(const struct mapipkt *packet, int link_type, mapi_packet_ends_t *ends)
{
    return mapi::client::guard(-1, [&] {
        need(packet, MFUNCT_INVALID_ARGUMENT_1, "packet");
        need(ends, MFUNCT_INVALID_ARGUMENT_3, "ends");
        *ends = packet_ends(*packet, link_type);
        return 0;
    });
}
