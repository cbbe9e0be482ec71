// SPDX-License-Identifier: MIT
// TRACK and its named variants: packet -> passes when nDPI has assigned its flow to an application
// protocol.
#include <algorithm>
#include <bit>
#include <cctype>
#include <string>
#include <vector>

#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/flow_table.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/refuse.hpp"
#include "functions/common/unread_packets.hpp"
#include "functions/flows/protocol_classifier.hpp"
#include "headers/headers.hpp"

namespace mapi::functions
{
namespace
{
constexpr size_t kFlowsMax = 65536; // about 1 KiB each until decided
constexpr uint64_t kIdleNs = 300ull * 1000000000;
constexpr size_t kNearNames = 8;

class Tracker
{
public:
    explicit Tracker(mapi_track_t *result) : result_(result), flows_(kFlowsMax, kIdleNs) {}

    static uint64_t memory_bytes()
    {
        return ProtocolClassifier::memory_bytes(kFlowsMax) +
               FlowTable<State>::memory_bytes(kFlowsMax);
    }
    const ProtocolClassifier &classifier() const { return classifier_; }
    const UnreadPackets &unread() const { return unread_; }
    void track(std::vector<uint16_t> protocols) { protocols_ = std::move(protocols); }

    uint64_t run(const mapi_batch &batch, uint64_t mask)
    {
        uint64_t passed = 0;
        unread_.note(batch, mask);
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
            passed |= is_tracked(batch.packets[std::countr_zero(rest)]) ? rest & -rest : 0;
        result_->flows = flows_.begun();
        result_->forgotten = flows_.pushed_out();
        return passed;
    }

private:
    struct State {
        ProtocolClassifier::Flow flow;
        bool is_counted = false; // among the matching flows
    };

    bool is_tracked(const mapi_packet &packet)
    {
        const headers::Headers headers = unread_.parse(packet);
        const headers::IpLayer *ip = headers.innermost();
        if (!ip || ip->is_later_fragment) {
            ++result_->not_judged;
            return false;
        }
        State &state = flows_.touch(flow_key(packet, *ip), packet.timestamp_ns);
        if (!state.flow.is_decided)
            look(state, packet, *ip);
        return matches(state.flow);
    }

    bool matches(const ProtocolClassifier::Flow &flow) const
    {
        return std::any_of(protocols_.begin(), protocols_.end(),
                           [&](uint16_t protocol) { return flow.is(protocol); });
    }

    void look(State &state, const mapi_packet &packet, const headers::IpLayer &ip)
    {
        if (packet.caplen < packet.wire_len && ip.end == packet.caplen) {
            ++result_->not_judged; // nDPI accepts only whole packets
            return;
        }
        classifier_.look(state.flow, {packet.data + ip.offset, ip.end - ip.offset}, ip.protocol,
                         packet.timestamp_ns);
        if (!state.is_counted && matches(state.flow)) {
            state.is_counted = true;
            ++result_->matched;
        }
        if (state.flow.is_decided && !state.flow.application)
            ++result_->unknown;
    }

    mapi_track_t *const result_;
    ProtocolClassifier classifier_;
    FlowTable<State> flows_;
    std::vector<uint16_t> protocols_;
    UnreadPackets unread_;
};

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return char(tolower(c)); });
    return text;
}

// Names with the same first letters as the requested one, or all names if there are none.
std::string near_names(const std::vector<std::string> &names, const std::string &wanted)
{
    for (size_t letters = wanted.size(); letters > 0; --letters) {
        std::string text;
        size_t found = 0;
        for (const std::string &name : names) {
            if (lower(name).find(lower(wanted.substr(0, letters))) != std::string::npos &&
                ++found <= kNearNames)
                text += (text.empty() ? "" : ", ") + name;
        }
        if (found)
            return text + (found > kNearNames ? ", ..." : "");
    }
    return names.size() > 1 ? names[1] + ", ..." : "none";
}

// Returns 0 if the name is unknown.
uint16_t number_of(const std::vector<std::string> &names, const std::string &wanted)
{
    for (size_t id = 1; id < names.size(); ++id) {
        if (lower(names[id]) == lower(wanted))
            return uint16_t(id);
    }
    return 0;
}

// `wanted`: protocol names, any of which may match.
int create_tracker(const mapi_function_setup *setup, void **instance,
                   const std::vector<std::string> &wanted)
{
    if (const int refused = reserve_memory(setup, Tracker::memory_bytes()))
        return refused;
    if (const int refused =
            create_object<Tracker>(setup, instance, static_cast<mapi_track_t *>(setup->result)))
        return refused;
    auto *tracker = static_cast<Tracker *>(*instance);
    const std::vector<std::string> &names = tracker->classifier().names();
    std::vector<uint16_t> protocols;
    for (const std::string &name : wanted) {
        protocols.push_back(number_of(names, name));
        if (protocols.back() != 0)
            continue;
        const std::string text =
            "unknown nDPI protocol \"" + name + "\"; closest names: " + near_names(names, name);
        delete tracker;
        *instance = nullptr;
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, text);
    }
    tracker->track(std::move(protocols));
    return 0;
}

int create_named(const mapi_function_setup *setup, void **instance)
{
    return create_tracker(setup, instance, {setup->arguments[0].text});
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    return static_cast<Tracker *>(instance)->run(*batch, mask);
}

// nDPI's names for the protocols of MAPI 2's functions.
int create_ftp(const mapi_function_setup *setup, void **instance)
{
    return create_tracker(setup, instance, {"FTP_CONTROL", "FTP_DATA"});
}
int create_dc(const mapi_function_setup *setup, void **instance)
{
    return create_tracker(setup, instance, {"DirectConnect"});
}
int create_gnutella(const mapi_function_setup *setup, void **instance)
{
    return create_tracker(setup, instance, {"Gnutella"});
}
int create_edonkey(const mapi_function_setup *setup, void **instance)
{
    return create_tracker(setup, instance, {"eDonkey"});
}
int create_torrent(const mapi_function_setup *setup, void **instance)
{
    return create_tracker(setup, instance, {"BitTorrent"});
}
int create_irc(const mapi_function_setup *setup, void **instance)
{
    return create_tracker(setup, instance, {"IRC"});
}
int create_skype(const mapi_function_setup *setup, void **instance)
{
    return create_tracker(setup, instance, {"Skype_Teams", "SkypeCall"});
}
int create_web(const mapi_function_setup *setup, void **instance)
{
    return create_tracker(setup, instance, {"HTTP", "HTTP_Connect", "HTTP_Proxy"});
}

constexpr mapi_function tracking(const char *name, const char *description,
                                 int (*create)(const mapi_function_setup *, void **),
                                 uint16_t argument = 0)
{
    mapi_function function = {};
    function.abi = MAPI_FUNCTION_ABI;
    function.struct_size = sizeof(mapi_function);
    function.name = name;
    function.description = description;
    function.arguments[0] = argument;
    function.result_bytes = sizeof(mapi_track_t);
    function.create = create;
    function.process = process;
    function.destroy = destroy<Tracker>;
    function.drops = drops_of_unread<Tracker>;
    return function;
}
} // namespace
} // namespace mapi::functions

extern "C" {
using namespace mapi::functions;
const mapi_function mapi_fn_track = tracking("TRACK", "passes flows of an application protocol",
                                             create_named, MAPI_ARGUMENT_STRING);
const mapi_function mapi_fn_track_ftp = tracking("TRACK_FTP", "passes FTP flows", create_ftp);
const mapi_function mapi_fn_track_dc =
    tracking("TRACK_DC", "passes Direct Connect flows", create_dc);
const mapi_function mapi_fn_track_gnutella =
    tracking("TRACK_GNUTELLA", "passes Gnutella flows", create_gnutella);
const mapi_function mapi_fn_track_edonkey =
    tracking("TRACK_EDONKEY", "passes eDonkey flows", create_edonkey);
const mapi_function mapi_fn_track_torrent =
    tracking("TRACK_TORRENT", "passes BitTorrent flows", create_torrent);
const mapi_function mapi_fn_track_irc = tracking("TRACK_IRC", "passes IRC flows", create_irc);
const mapi_function mapi_fn_track_skype =
    tracking("TRACK_SKYPE", "passes Skype flows", create_skype);
const mapi_function mapi_fn_track_web = tracking("TRACK_WEB", "passes HTTP flows", create_web);
}
