// SPDX-License-Identifier: MIT
// json: what mapid has -> schema netslice-mapi-info-1.
#include "json.hpp"

#include <nlohmann/json.hpp>

#include "words.hpp"

namespace mapi_info
{
namespace
{
using Json = nlohmann::ordered_json;

Json daemon_json(const mapi::ipc::DaemonInfo &daemon)
{
    Json json = {{"pid", daemon.pid()},
                 {"version", daemon.version()},
                 {"uptime_s", daemon.uptime_s()},
                 {"is_recording", daemon.is_recording()}};
    if (daemon.has_tally()) {
        const mapi::ipc::Tally &tally = daemon.tally();
        json["clients"] = tally.clients();
        json["refusals"] = {{"clients", tally.clients_refused()},
                            {"limit_of_client", tally.limits_reached()},
                            {"access", tally.access_refused()}};
    }
    return json;
}

Json device_json(const mapi::ipc::ListedDevice &device)
{
    const mapi::ipc::DeviceInfo &info = device.info();
    Json json = {
        {"id", info.id()},        {"device", info.device()},           {"driver", info.driver()},
        {"alias", info.alias()},  {"description", info.description()}, {"state", state_of(device)},
        {"flows", device.flows()}};
    if (!device.is_open())
        return json;
    const mapi::ipc::Statistics &stats = device.statistics();
    Json drops = Json::object();
    for (const auto &[cause, count] : drops_of(stats))
        drops[cause] = count;
    json["packets"] = stats.received();
    json["bytes"] = stats.received_bytes();
    json["drops"] = std::move(drops);
    json["kernel_unreadable"] = stats.kernel_unreadable();
    json["kernel_late"] = stats.kernel_late();
    json["undecided"] = stats.undecided();
    json["unread_bytes"] = stats.unread_bytes();
    json["message"] = stats.message();
    json["remark"] = stats.remark();
    return json;
}

Json flow_json(const mapi::ipc::ListedFlow &flow)
{
    Json functions = Json::array();
    for (const auto &function : flow.functions()) {
        const mapi::ipc::FunctionInfo &info = function.info();
        functions.push_back({{"number", function.number()},
                             {"function", info.name()},
                             {"seen", info.packets()},
                             {"passed", info.passed_packets()},
                             {"dropped", info.dropped()},
                             {"unread_headers", info.unread_headers()},
                             {"given_up", info.given_up()},
                             {"shared_with", info.shared_with()},
                             {"place", info.place()}});
    }
    return {{"client", flow.client()},
            {"pid", flow.pid()},
            {"uid", flow.uid()},
            {"flow", flow.flow()},
            {"device", flow.info().device()},
            {"status", status_of(flow)},
            {"start_us", flow.info().start_us()},
            {"end_us", flow.info().end_us()},
            {"function_bytes", flow.function_bytes()},
            {"client_bytes", flow.client_bytes()},
            {"user_bytes", flow.user_bytes()},
            {"functions", std::move(functions)}};
}

// Figures that are missing are absent.
Json runs_json(const mapi::ipc::CostOfRuns &live)
{
    Json json = {{"runs", live.runs()}, {"empty_runs", live.empty_runs()}};
    if (live.runs() > 0)
        json["run_ns"] = mean_ns(live.run_ns(), live.runs());
    if (live.empty_runs() > 0)
        json["empty_run_ns"] = mean_ns(live.empty_run_ns(), live.empty_runs());
    if (!live.missing().empty())
        json["missing"] = live.missing();
    return json;
}

Json net_json(const mapi::ipc::NetCost &net)
{
    Json json = {{"packets", net.packets()}, {"test_runs", net.runs()}};
    if (net.packets() > 0) {
        json["test_ns"] = net.program_ns();
        json["empty_test_ns"] = net.empty_ns();
        json["net_ns"] = net.net_ns();
        json["net_p10_ns"] = net.net_p10_ns();
        json["net_p90_ns"] = net.net_p90_ns();
    }
    if (!net.missing().empty())
        json["missing"] = net.missing();
    return json;
}

Json cost_json(const mapi::ipc::Cost &cost)
{
    return {{"device", cost.device()},
            {"place", cost.place()},
            {"mode", cost.mode()},
            {"functions", cost.functions()},
            {"instructions", cost.instructions()},
            {"code_bytes", cost.code_bytes()},
            {"live", runs_json(cost.live())},
            {"net", net_json(cost.net())}};
}

Json head_json(const mapi::ipc::DaemonInfo &daemon)
{
    return {{"schema", "netslice-mapi-info-1"}, {"mapid", daemon_json(daemon)}};
}

std::string text_of(const Json &json)
{
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
} // namespace

std::string json_text(const mapi::ipc::DaemonInfo &daemon,
                      const std::vector<mapi::ipc::ListedDevice> *devices,
                      const std::vector<mapi::ipc::ListedFlow> *flows)
{
    Json json = head_json(daemon);
    if (devices) {
        json["devices"] = Json::array();
        for (const auto &device : *devices)
            json["devices"].push_back(device_json(device));
    }
    if (flows) {
        json["flows"] = Json::array();
        for (const auto &flow : *flows)
            json["flows"].push_back(flow_json(flow));
    }
    return text_of(json);
}

std::string costs_json_text(const mapi::ipc::DaemonInfo &daemon,
                            const std::vector<mapi::ipc::Cost> &costs)
{
    Json json = head_json(daemon);
    json["costs"] = Json::array();
    for (const auto &cost : costs)
        json["costs"].push_back(cost_json(cost));
    return text_of(json);
}
} // namespace mapi_info
