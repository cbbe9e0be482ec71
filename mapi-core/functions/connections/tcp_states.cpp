// SPDX-License-Identifier: MIT
// Tracker: TCP segments -> the states of a connection (RFC 9293 3.10.7).  A segment with a wrong
// checksum changes none and is counted, a RST only at the expected number (RFC 5961 3), a SYN
// between ends that have a connection only if the other end answers it.
#include "functions/connections/tracker.hpp"
#include "functions/cooking/head.hpp"
#include "headers/internet_sum.hpp"

#include <netinet/in.h>

namespace mapi::connections
{
namespace
{
using cooking::kFin;
using cooking::kRst;
using cooking::kSyn;

constexpr uint32_t kWindow = 1 << 24; // a segment farther away is another connection's, or forged
constexpr size_t kChecksumPlace = 16;

bool is_near(uint32_t number, uint32_t from)
{
    return number - from < kWindow;
}

enum class Checksum { kRight, kAbsent, kWrong };

// Right is also what a sending host that leaves the checksum to its interface puts there: the sum
// of the pseudo header.
Checksum checksum_of(const mapi_packet &view, const headers::IpLayer &ip)
{
    if (cooking::cut_bytes_of(view, ip) > 0 || ip.end < ip.transport + cooking::kTcpBytes)
        return Checksum::kRight; // unknown
    const uint8_t *const tcp = view.data + ip.transport;
    const size_t bytes = ip.end - ip.transport;
    uint64_t pseudo = IPPROTO_TCP + bytes;
    for (const auto address : {headers::source_of(view, ip), headers::destination_of(view, ip)})
        pseudo += headers::sum_of(address.data(), address.size());
    const auto given = uint16_t(tcp[kChecksumPlace] << 8 | tcp[kChecksumPlace + 1]);
    if (headers::folded(pseudo + headers::sum_of(tcp, bytes)) == 0 ||
        given == uint16_t(~headers::folded(pseudo)))
        return Checksum::kRight;
    return given == 0 ? Checksum::kAbsent : Checksum::kWrong;
}
} // namespace

// A checksum of 0 is one that was not filled in, or was removed from the capture.  From a side
// whose SYN had another one it is wrong: its peer ignores such a RST or FIN.
bool Tracker::accepts_checksum(const Connection &connection, Packet &packet, bool is_syn)
{
    const Checksum checksum = checksum_of(*packet.view, *packet.ip);
    packet.lacks_checksum = checksum == Checksum::kAbsent;
    const bool may_lack = is_syn || connection.state == State::kFree ||
                          connection.state == State::kMidstream ||
                          connection.sides[packet.from].lacks_checksums;
    if (checksum == Checksum::kRight || (packet.lacks_checksum && may_lack))
        return true;
    ++counts_.wrong_checksums;
    return false;
}

Connection &Tracker::take_tcp(Connection &connection, Packet &packet,
                              const cooking::Segment &segment)
{
    const bool is_syn = segment.flags & kSyn;
    if ((is_syn || (segment.flags & (kRst | kFin))) &&
        !accepts_checksum(connection, packet, is_syn)) {
        return connection.state == State::kFree ? begin(connection, State::kMidstream, packet.from)
                                                : connection;
    }
    if (is_syn && segment.has_acknowledgment)
        return take_answer(connection, packet, segment);
    if (is_syn)
        return take_syn(connection, packet, segment);
    return segment.flags & kRst ? take_reset(connection, packet, segment)
                                : take_data(connection, packet, segment);
}

Connection &Tracker::take_syn(Connection &connection, const Packet &packet,
                              const cooking::Segment &segment)
{
    const uint32_t first = segment.sequence + 1;
    if (connection.state == State::kFree || connection.is_over()) {
        Connection &begun = begin(connection, State::kAsked, packet.from);
        begun.sides[packet.from] = {first, first, 0, true, false, false, packet.lacks_checksum};
        return begun;
    }
    if (connection.state != State::kAsked || connection.client != packet.from ||
        connection.sides[packet.from].first != first) {
        connection.rival = {first, uint8_t(packet.from), true, packet.lacks_checksum};
    } else { // again
        connection.sides[packet.from].lacks_checksums &= packet.lacks_checksum;
    }
    return connection;
}

Connection &Tracker::take_answer(Connection &connection, const Packet &packet,
                                 const cooking::Segment &segment)
{
    const unsigned client = 1 - packet.from;
    const Rival rival = connection.rival;
    if (connection.state == State::kFree)
        return begin(connection, State::kMidstream, client);
    Connection *asked = &connection;
    if (rival.is_there && rival.client == client && segment.acknowledgment == rival.first) {
        asked = &begin(connection, State::kAsked, client);
        asked->sides[client] = {rival.first, rival.first,          0, true, false,
                                false,       rival.lacks_checksums};
    }
    if (asked->state != State::kAsked || asked->client != client ||
        segment.acknowledgment != asked->sides[client].first)
        return *asked;
    const uint32_t first = segment.sequence + 1;
    asked->sides[packet.from] = {first, first, segment.acknowledgment, true,
                                 true,  false, packet.lacks_checksum};
    asked->state = State::kAnswered;
    return *asked;
}

// In answer to a SYN, by its acknowledgment; otherwise at the number that the receiver expects, or
// at the end of what has been sent.
Connection &Tracker::take_reset(Connection &connection, const Packet &packet,
                                const cooking::Segment &segment)
{
    const Side &own = connection.sides[packet.from], &peer = connection.sides[1 - packet.from];
    const bool answers_syn = connection.state == State::kAsked &&
                             connection.client != packet.from && segment.has_acknowledgment &&
                             segment.acknowledgment == peer.first;
    const bool is_expected = (own.has_sent && segment.sequence == own.next) ||
                             (peer.has_acked && segment.sequence == peer.acked);
    if (connection.state == State::kFree)
        return begin(connection, State::kMidstream, packet.from);
    if (answers_syn || is_expected)
        connection.state = State::kReset;
    return connection;
}

Connection &Tracker::take_data(Connection &connection, Packet &packet,
                               const cooking::Segment &segment)
{
    if (connection.state == State::kFree) { // the end with the lower port is likely the server
        const bool is_lower_client = packet.key.lower_port > packet.key.upper_port;
        const bool are_equal = packet.key.lower_port == packet.key.upper_port;
        begin(connection, State::kMidstream, are_equal ? packet.from : is_lower_client ? 0 : 1);
    }
    Side &own = connection.sides[packet.from], &peer = connection.sides[1 - packet.from];
    if (connection.state == State::kAnswered && packet.from == connection.client &&
        segment.has_acknowledgment && is_near(segment.acknowledgment, peer.first) &&
        is_near(segment.sequence, own.first) && accepts_checksum(connection, packet, false))
        connection.state = State::kEstablished;
    const uint32_t end = segment.end() + (segment.flags & kFin ? 1 : 0);
    if (!own.has_sent) {
        own.next = end;
        own.has_sent = true;
    } else if (is_near(segment.sequence, own.next - kWindow / 2) && is_near(end, own.next)) {
        own.next = end;
    }
    if (segment.has_acknowledgment &&
        (!own.has_acked || is_near(segment.acknowledgment, own.acked))) {
        own.acked = segment.acknowledgment;
        own.has_acked = true;
    }
    own.has_finished |= (segment.flags & kFin) && end == own.next;
    return connection;
}
} // namespace mapi::connections
