// SPDX-License-Identifier: MIT
// Registry answers: what mapid has, as far as the asking user may see it -> messages.
#include "daemon/reporting/registry_answers.hpp"

#include <optional>

#include <unistd.h>

#include "daemon/recording.hpp"
#include "daemon/session/session_answers.hpp"
#include "engine/error.hpp"
#include "engine/packet_path/device.hpp"

namespace mapi::daemon
{
namespace
{
// beyond that the list continues in the next message; the rest has room for the last item
constexpr size_t kListBytesMax = 32768;
constexpr size_t kFlowsAtOnce = 256;

// Null: flows of all users.
std::optional<uid_t> whose(const Peer &asker)
{
    return is_operator(asker) ? std::nullopt : std::optional(asker.uid);
}

std::map<const engine::Device *, uint32_t> count_flows(const Service &service, const Peer &asker)
{
    std::map<const engine::Device *, uint32_t> counts;
    for (const ClientRegistry::Entry &entry : service.clients.flows(whose(asker))) {
        if (const auto flow = entry.flow.lock())
            ++counts[flow->device().get()];
    }
    return counts;
}

// False: there is no room for all of its functions.
bool add_functions(engine::Flow &flow, int after, size_t &bytes, ipc::ListedFlow &message)
{
    for (int number = flow.next_function(after); number != 0; number = flow.next_function(number)) {
        if (bytes >= kListBytesMax)
            return false;
        mapi_function_info_t info = {};
        flow.describe(number, &info);
        ipc::ListedFunction &function = *message.add_functions();
        function.set_number(number);
        show(info, *function.mutable_info());
        bytes += function.ByteSizeLong();
    }
    return true;
}

// False: the flow continues in the next message.
bool add_flow(const ClientRegistry::Entry &entry, engine::Flow &flow, int after, size_t &bytes,
              ipc::FlowList &list)
{
    mapi_flow_info_t info = {};
    flow.describe(&info);
    ipc::ListedFlow &message = *list.add_flows();
    message.set_client(entry.client);
    message.set_pid(entry.pid);
    message.set_uid(entry.uid);
    message.set_flow(entry.number);
    message.set_function_bytes(flow.function_bytes());
    message.set_client_bytes(entry.client_bytes);
    message.set_user_bytes(entry.user_bytes);
    show(info, *message.mutable_info());
    bytes += message.ByteSizeLong();
    const bool is_whole = add_functions(flow, after, bytes, message);
    message.set_has_more(!is_whole);
    return is_whole;
}
} // namespace

void show_daemon(const Service &service, const Peer &asker, ipc::DaemonInfo &message)
{
    message.set_pid(getpid());
    message.set_version(NETSLICE_VERSION);
    message.set_uptime_s(service.clients.uptime_s());
    message.set_is_recording(Recording::is_under_way());
    if (!is_operator(asker))
        return;
    ipc::Tally &tally = *message.mutable_tally();
    tally.set_clients(service.clients.client_count());
    tally.set_clients_refused(service.clients.tally.clients_refused);
    tally.set_limits_reached(service.clients.tally.limits_reached);
    tally.set_access_refused(service.clients.tally.access_refused);
}

void show_devices(const Service &service, const Peer &asker, const ipc::Place &from,
                  ipc::DeviceList &message)
{
    const auto flows = count_flows(service, asker);
    size_t bytes = 0;
    for (const engine::ListedDevice &device : service.devices.list()) {
        if (device.info.id <= from.device() || !may_use(asker, device.group, service.group))
            continue;
        if (bytes >= kListBytesMax)
            return message.set_has_more(true);
        ipc::ListedDevice &listed = *message.add_devices();
        show(device.info, *listed.mutable_info());
        listed.set_is_open(device.open != nullptr);
        listed.set_is_replaced(device.is_replaced);
        if (device.open) {
            mapi_stat_t stats = {};
            device.open->copy_stats(&stats);
            show(stats, *listed.mutable_statistics());
            listed.set_has_cost(device.open->has_cost());
            const auto found = flows.find(device.open.get());
            listed.set_flows(found == flows.end() ? 0 : found->second);
        }
        bytes += listed.ByteSizeLong();
    }
}

void show_flows(const Service &service, const Peer &asker, const ipc::Place &from,
                ipc::FlowList &message)
{
    size_t bytes = 0;
    uint64_t client = from.client();
    int number = from.flow();
    while (true) {
        const auto entries = service.clients.flows(whose(asker), client, number, kFlowsAtOnce);
        for (const ClientRegistry::Entry &entry : entries) {
            const auto flow = entry.flow.lock();
            const bool is_begun = entry.client == from.client() && entry.number == from.flow();
            if (bytes >= kListBytesMax)
                return message.set_has_more(true);
            try {
                if (flow && !add_flow(entry, *flow, is_begun ? from.function() : 0, bytes, message))
                    return message.set_has_more(true);
            } catch (const Error &) { // its client is changing it
            }
        }
        if (entries.size() < kFlowsAtOnce)
            return;
        client = entries.back().client;
        number = entries.back().number + 1;
    }
}
} // namespace mapi::daemon
