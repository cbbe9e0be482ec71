// SPDX-License-Identifier: MIT
// Session flows: requests that create, change, connect and close a client's flows.
#include <algorithm>
#include <utility>

#include <unistd.h>

#include "daemon/session/function_rules.hpp"
#include "daemon/session/regular_file.hpp"
#include "daemon/session/request_arguments.hpp"
#include "daemon/session/session.hpp"
#include "daemon/session/session_answers.hpp"
#include "engine/error.hpp"

namespace mapi::daemon
{
Session::FlowEntry &Session::find(int number)
{
    const auto found = flows_.find(number);
    if (found == flows_.end())
        throw Error(MAPI_INVALID_FLOW, "there is no flow " + std::to_string(number));
    return found->second;
}

// Charges for a flow with this number; they are returned if the flow is not created.
QuotaUses Session::place_for(int number, size_t files) const
{
    if (number < 1 || number > kFlowNumberMax || flows_.contains(number))
        throw ipc::ChannelError("malformed request: invalid flow number");
    QuotaUses held = quotas_.nothing();
    quotas_.add_place(held);
    quotas_.add_files(held, files);
    return held;
}

void Session::check_access(const std::string &device) const
{
    const std::string own = device.empty() ? "" : service_.devices.group_of(device);
    const std::string group = own.empty() ? service_.group : own;
    if (!may_use(peer_, own, service_.group))
        throw Error(MAPID_NOT_AUTHENTICATED, (device.empty() ? "captures" : "device " + device) +
                                                 ": permission denied: user " +
                                                 std::to_string(peer_.uid) + " is not in group \"" +
                                                 group +
                                                 "\" (join the group, or set MAPI_SOCKET=none to "
                                                 "capture in this process)");
}

void Session::create_flow(const ipc::CreateFlow &call, ipc::Reply &reply)
{
    const bool is_own = own_.has(call.device());
    const auto capture = captures_.find(call.device());
    const bool has_charge = !is_own || capture != captures_.end();
    QuotaUses held = place_for(call.flow(), has_charge ? 0 : 1);
    if (!is_own)
        check_access(call.device());
    add_flow(call.flow(), (is_own ? own_ : service_.devices).acquire(call.device()), call.device(),
             std::move(held), reply, is_own && has_charge ? capture->second.read : nullptr);
}

void Session::check_capture(const std::string &path, const ipc::Descriptor &file)
{
    check_regular(file, MAPI_ERROR_FILE, path);
    if (path.size() > PATH_MAX)
        throw Error(MAPI_ERROR_FILE,
                    "the capture's name is longer than " + std::to_string(PATH_MAX) + " bytes");
}

void Session::create_offline(const ipc::CreateOffline &call, const ipc::Descriptor &file,
                             ipc::Reply &reply)
{
    check_access("");
    check_capture(call.path(), file);
    if (call.flow() == 0) {
        CaptureUses uses = quotas_.capture();
        quotas_.add_place(uses.given);
        const std::string device = own_.create_offline(call.path(), call.format(), file.number());
        reply.mutable_device()->set_device(device);
        captures_[device] = std::move(uses);
        return;
    }
    QuotaUses held = place_for(call.flow(), 1);
    auto device = own_.create_private(call.path(), call.format(), file.number());
    add_flow(call.flow(), device, device->settings().name, std::move(held), reply);
}

void Session::append_offline(const ipc::AppendOffline &call, const ipc::Descriptor &file)
{
    check_access("");
    check_capture(call.path(), file);
    const auto capture = captures_.find(call.device());
    if (capture == captures_.end())
        throw Error(MAPID_NO_DEVICE, "there is no offline device \"" + call.device() + "\"");
    CaptureUses uses = quotas_.capture();
    own_.append_offline(call.device(), call.path(), file.number());
    capture->second.take_over(std::move(uses));
}

void Session::add_flow(int number, std::shared_ptr<engine::Device> device, const std::string &name,
                       QuotaUses held, ipc::Reply &reply, std::shared_ptr<QuotaUses> capture)
{
    auto flow = std::make_shared<engine::Flow>(std::move(device), engine_client_);
    flow->set_on_end([ended = ended_] { // may be called after the session has ended
        const uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = write(ended->number(), &one, sizeof(one));
    });
    reply.mutable_flow()->set_status_offset(
        arena_->piece(engine::Arena::Side::kEngine).offset_of(flow->shown_status()));
    reply.mutable_flow()->set_device(name);
    service_.clients.add_flow(registry_number_, number, flow);
    const auto uses = std::make_shared<QuotaUses>(std::move(held));
    flow->keep(std::make_shared<std::pair<decltype(capture), decltype(capture)>>(
        uses, std::move(capture))); // a deleted capture stays open with its flows
    flows_[number] = {std::move(flow), name, uses};
}

void Session::apply(const ipc::Apply &call, std::vector<ipc::Descriptor> &descriptors,
                    ipc::Reply &reply)
{
    FlowEntry &entry = find(call.flow());
    QuotaUses held = quotas_.nothing();
    quotas_.add_function(held);
    const mapi_function &function = service_.registry.function(call.function());
    check_readable(function, service_.registry);
    const unsigned written =
        ((function.ending && function.ending->is_settled) || (function.flags & MAPI_FUNCTION_SENDS)
             ? 1
             : 0) +
        unsigned(std::max<size_t>(descriptors.size(), 1) - 1);
    quotas_.add_written(held, written);
    quotas_.add_files(held, written);
    // The letters are checked again: the message may come from any program.
    engine::Arguments arguments =
        ArgumentReader(
            peer_, [this](int flow) { return find(flow).flow; }, descriptors)
            .read(call, engine::argument_letters(function));
    check_sending(function, arguments, peer_);
    check_lengths(function, arguments);
    const int fid = entry.flow->apply(function, std::move(arguments));
    entry.held->take_over(std::move(held));
    show(fid, entry.flow->memory(fid), *arena_, *reply.mutable_applied());
}

// All numbers after the last part of a call, before that none.
std::vector<int> Session::numbers_of(const ipc::FlowNumbers &call)
{
    std::vector<int> numbers = std::exchange(numbers_, {});
    if (numbers.size() + size_t(call.flows_size()) > flows_.size())
        throw Error(MFUNCT_INVALID_ARGUMENT_1, "a flow is listed twice");
    numbers.insert(numbers.end(), call.flows().begin(), call.flows().end());
    if (call.has_more())
        std::swap(numbers_, numbers);
    return numbers;
}

void Session::connect(const std::vector<int> &numbers)
{
    std::vector<engine::Flow *> flows;
    for (const int number : numbers)
        flows.push_back(find(number).flow.get());
    engine::Flow::connect(flows);
}

void Session::close(const std::vector<int> &numbers)
{
    std::map<int, std::shared_ptr<engine::Flow>> flows;
    for (const int number : numbers) {
        if (!flows.emplace(number, find(number).flow).second)
            throw Error(MFUNCT_INVALID_ARGUMENT_1, "a flow is listed twice");
    }
    std::vector<std::shared_ptr<engine::Flow>> closed;
    for (const auto &[number, flow] : flows) {
        service_.clients.remove_flow(registry_number_, number);
        closed.push_back(flow);
    }
    engine::Flow::close(closed);
    for (const auto &[number, flow] : flows)
        flows_.erase(number);
}
} // namespace mapi::daemon
