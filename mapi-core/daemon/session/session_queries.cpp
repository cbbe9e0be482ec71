// SPDX-License-Identifier: MIT
// Session queries: requests that only ask.
#include "daemon/session/policy.hpp"
#include "daemon/session/session.hpp"
#include "daemon/session/session_answers.hpp"
#include "engine/error.hpp"

namespace mapi::daemon
{
void Session::describe(const mapi_function &function, ipc::Reply &reply) const
{
    reply.mutable_function()->set_name(function.name);
    reply.mutable_function()->set_arguments(engine::argument_letters(function));
    reply.mutable_function()->set_description(function.description);
    reply.mutable_function()->set_functions(uint32_t(service_.registry.functions().size()));
}

void Session::describe_flow(int number, ipc::Reply &reply)
{
    mapi_flow_info_t info = {};
    find(number).flow->describe(&info);
    show(info, *reply.mutable_flow_info());
}

void Session::describe_function(const ipc::Target &call, ipc::Reply &reply)
{
    mapi_function_info_t info = {};
    find(call.flow()).flow->describe(call.function(), &info);
    show(info, *reply.mutable_function_info());
}

void Session::describe_device(int id, ipc::Reply &reply)
{
    mapi_device_info_t info = {};
    const bool is_own = id >= kOwnDevicesFrom;
    if (!is_own && !may_use(peer_, service_.devices.group_of(id), service_.group))
        throw Error(MAPI_DEVICE_INFO_ERR, "there is no device " + std::to_string(id) +
                                              " that user " + std::to_string(peer_.uid) +
                                              " may use");
    (is_own ? own_ : service_.devices).describe(id, &info);
    show(info, *reply.mutable_device_info());
}

void Session::next_device(int id, ipc::Reply &reply)
{
    int next = id < kOwnDevicesFrom ? service_.devices.next(id) : 0;
    while (next != 0 && !may_use(peer_, service_.devices.group_of(next), service_.group))
        next = service_.devices.next(next);
    if (next == 0)
        next = own_.next(id);
    reply.mutable_device_info()->set_id(next);
}

void Session::statistics(const std::string &device, ipc::Reply &reply)
{
    mapi_stat_t stats = {};
    if (own_.has(device)) {
        own_.copy_stats(device, &stats);
    } else {
        check_access(device);
        service_.devices.copy_stats(device, &stats, engine_client_.get());
    }
    show(stats, *reply.mutable_statistics());
}
} // namespace mapi::daemon
