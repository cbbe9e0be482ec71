// SPDX-License-Identifier: MIT
// cost: one measurement for each device, one after the other; what could not be measured is
// reported on standard error.
#include "cost.hpp"

#include <cmath>

#include "common/command/output.hpp"
#include "common/command/printable.hpp"
#include "common/command/tell.hpp"
#include "json.hpp"
#include "table.hpp"

namespace mapi_info
{
namespace
{
constexpr double kMsPerSecond = 1000;

std::vector<std::string> devices_to_measure(Mapid &mapid, const Options &options)
{
    if (!options.device.empty())
        return {options.device};
    std::vector<std::string> names;
    for (const auto &device : mapid.devices()) {
        if (device.has_cost() && !device.is_replaced())
            names.push_back(device.info().device());
    }
    return names;
}

void tell_missing(const mapi::ipc::Cost &cost, const char *what, const std::string &reason)
{
    if (!reason.empty())
        command::tell("mapi-info: {}: no {}: {}\n", command::printable(cost.device()), what,
                      command::printable(reason));
}
} // namespace

int show_cost(Mapid &mapid, const Options &options)
{
    const std::vector<std::string> devices = devices_to_measure(mapid, options);
    std::vector<mapi::ipc::Cost> costs;
    for (const std::string &device : devices)
        costs.push_back(
            mapid.cost(device, uint32_t(std::lround(options.cost_seconds * kMsPerSecond))));
    command::write_whole(options.output, options.format == "json"
                                             ? costs_json_text(mapid.daemon(), costs)
                                             : costs_table(costs));
    if (devices.empty())
        command::tell("mapi-info: no open device has a driver that runs functions in the kernel "
                      "(driver=xdp in mapi.conf; its first flow opens it)\n");
    bool is_whole = !devices.empty();
    for (const mapi::ipc::Cost &cost : costs) {
        tell_missing(cost, "run statistics", cost.live().missing());
        tell_missing(cost, "net cost", cost.net().missing());
        is_whole = is_whole && cost.live().missing().empty() && cost.net().missing().empty();
    }
    return is_whole ? kExitOk : kExitFindings;
}
} // namespace mapi_info
