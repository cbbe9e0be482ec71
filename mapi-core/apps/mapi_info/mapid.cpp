// SPDX-License-Identifier: MIT
// mapid: queries to a running one -> its answers.  Lists arrive in pieces.
#include "mapid.hpp"

#include <tuple>
#include <utility>

#include "engine/error.hpp"
#include "ipc/run_time.hpp"

namespace mapi_info
{
using namespace mapi;

namespace
{
constexpr const char *kOtherSocket = "specify mapid's socket with --socket or MAPI_SOCKET)";

std::string absence(const std::string &socket)
{
    if (socket == "none")
        return std::string("socket \"none\": means that no mapid is used (") + kOtherSocket;
    if (ipc::is_other_file(socket))
        return socket + ": is not a socket (" + kOtherSocket;
    return "mapid does not answer at " + socket + " (start it, or " + kOtherSocket;
}
} // namespace

Mapid::Mapid(const std::string &socket)
    : connection_(socket == "none" ? nullptr : client::Connection::open(socket))
{
    if (!connection_)
        throw Error(MCOM_INIT_SOCKET_ERROR, absence(socket));
}

ipc::DaemonInfo Mapid::daemon()
{
    ipc::Request request;
    request.mutable_ask_daemon();
    return connection_->ask(request).daemon();
}

namespace
{
[[noreturn]] void refuse_endless()
{
    throw Error(MCOM_UNKNOWN_ERROR, "malformed reply: mapid's list repeats an entry");
}
} // namespace

std::vector<ipc::ListedDevice> Mapid::devices()
{
    std::vector<ipc::ListedDevice> all;
    ipc::Request request;
    ipc::DeviceList piece;
    request.mutable_list_devices();
    do {
        piece = connection_->ask(request).devices();
        all.insert(all.end(), piece.devices().begin(), piece.devices().end());
        const int before = request.list_devices().device();
        if (!all.empty())
            request.mutable_list_devices()->set_device(all.back().info().id());
        if (piece.has_more() && request.list_devices().device() <= before)
            refuse_endless();
    } while (piece.has_more());
    return all;
}

namespace
{
bool is_same(const ipc::ListedFlow &one, const ipc::ListedFlow &other)
{
    return one.client() == other.client() && one.flow() == other.flow();
}

std::tuple<uint64_t, int, int> key(const ipc::Place &place)
{
    return {place.client(), place.flow(), place.function()};
}

// Sets the place from which the list continues.
void go_on(const ipc::ListedFlow &last, ipc::Place &place)
{
    const int reported =
        last.functions_size() > 0 ? last.functions(last.functions_size() - 1).number() : 0;
    place.set_client(last.client());
    place.set_flow(last.has_more() ? last.flow() : last.flow() + 1);
    place.set_function(last.has_more() ? reported : 0);
}
} // namespace

std::vector<ipc::ListedFlow> Mapid::flows()
{
    std::vector<ipc::ListedFlow> all;
    ipc::Request request;
    ipc::FlowList piece;
    request.mutable_list_flows();
    do {
        piece = connection_->ask(request).flows();
        for (ipc::ListedFlow &flow : *piece.mutable_flows()) {
            if (all.empty() || !is_same(all.back(), flow)) {
                all.push_back(std::move(flow));
                continue;
            }
            all.back().mutable_functions()->MergeFrom(flow.functions());
            all.back().set_has_more(flow.has_more());
        }
        const auto before = key(request.list_flows());
        if (!all.empty())
            go_on(all.back(), *request.mutable_list_flows());
        if (piece.has_more() && key(request.list_flows()) <= before)
            refuse_endless();
    } while (piece.has_more());
    return all;
}

ipc::Cost Mapid::cost(const std::string &device, uint32_t duration_ms)
{
    ipc::Request request;
    request.mutable_measure_cost()->set_device(device);
    request.mutable_measure_cost()->set_duration_ms(duration_ms);
    return connection_->ask(request).cost();
}

void Mapid::start_recording(const std::string &name, const std::string &slices, int file)
{
    ipc::Request request;
    request.mutable_start_recording()->set_name(name);
    request.mutable_start_recording()->set_slices(slices);
    connection_->ask(request, {file});
}

ipc::Recorded Mapid::stop_recording()
{
    ipc::Request request;
    request.mutable_stop_recording();
    return connection_->ask(request).recorded();
}
} // namespace mapi_info
