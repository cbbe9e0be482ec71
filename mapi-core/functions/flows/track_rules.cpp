// SPDX-License-Identifier: MIT
// TRACK_MAPI, TRACK_GRID_FTP, TRACK_IPOVERIP: packet -> passes by its ports or by a tunnel's
// headers.
#include <bit>

#include <netinet/in.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/unread_packets.hpp"
#include "headers/headers.hpp"

namespace mapi::functions
{
namespace
{
using headers::Headers;

constexpr uint16_t kDimapiPort = 2233;
constexpr uint16_t kGridFtpPort = 2811; // control connection, assigned by IANA

bool is_tcp_port(const mapi_packet &packet, const Headers &headers, uint16_t port)
{
    const headers::IpLayer *ip = headers.innermost();
    const auto ports =
        ip && ip->protocol == IPPROTO_TCP ? headers::ports_of(packet, *ip) : std::nullopt;
    return ports && (ports->source == port || ports->destination == port);
}

bool is_mapi(const mapi_packet &packet, const Headers &headers)
{
    return is_tcp_port(packet, headers, kDimapiPort);
}

bool is_grid_ftp(const mapi_packet &packet, const Headers &headers)
{
    return is_tcp_port(packet, headers, kGridFtpPort);
}

// IP in IP, even if the inner header is truncated or in a later fragment; GRE if it carries IP.
bool is_ip_over_ip(const mapi_packet &, const Headers &headers)
{
    for (unsigned i = 0; i < headers.ip_layers; ++i) {
        const uint8_t protocol = headers.ip[i].protocol;
        const bool has_inner = i + 1u < headers.ip_layers;
        if (protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6 ||
            (protocol == IPPROTO_GRE && has_inner))
            return true;
    }
    return false;
}

struct TrackRule {
    UnreadPackets unread_packets;

    const UnreadPackets &unread() const { return unread_packets; }
};

template <bool (*passes)(const mapi_packet &, const Headers &)>
uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    uint64_t passed = 0;
    UnreadPackets &unread = static_cast<TrackRule *>(instance)->unread_packets;
    unread.note(*batch, mask);
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const mapi_packet &packet = batch->packets[std::countr_zero(rest)];
        passed |= passes(packet, unread.parse(packet)) ? rest & -rest : 0;
    }
    return passed;
}

int create(const mapi_function_setup *setup, void **instance)
{
    return create_object<TrackRule>(setup, instance);
}

constexpr mapi_function rule(const char *name, const char *description,
                             uint64_t (*run)(void *, const mapi_batch *, uint64_t))
{
    mapi_function function = {};
    function.abi = MAPI_FUNCTION_ABI;
    function.struct_size = sizeof(mapi_function);
    function.name = name;
    function.description = description;
    function.flags = MAPI_FUNCTION_PURE;
    function.create = create;
    function.process = run;
    function.destroy = destroy<TrackRule>;
    function.drops = drops_of_unread<TrackRule>;
    return function;
}
} // namespace
} // namespace mapi::functions

extern "C" {
using namespace mapi::functions;
const mapi_function mapi_fn_track_mapi =
    rule("TRACK_MAPI", "passes DiMAPI's port", process<is_mapi>);
const mapi_function mapi_fn_track_grid_ftp =
    rule("TRACK_GRID_FTP", "passes GridFTP's control port", process<is_grid_ftp>);
const mapi_function mapi_fn_track_ipoverip =
    rule("TRACK_IPOVERIP", "passes IP packets inside IP packets", process<is_ip_over_ip>);
}
