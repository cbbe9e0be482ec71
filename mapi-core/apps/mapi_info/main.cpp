// SPDX-License-Identifier: MIT
// mapi-info: a running mapid -> tables or JSON of what it has, or a trace of its probes.
#include <exception>

#include <nsprobe/recorder.h>

#include "common/command/output.hpp"
#include "common/command/printable.hpp"
#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/command/tell.hpp"
#include "cost.hpp"
#include "json.hpp"
#include "mapid.hpp"
#include "options.hpp"
#include "record.hpp"
#include "table.hpp"

NSP_IGNORE_ENVIRONMENT; // mapid is recorded, not this program

namespace mapi_info
{
namespace
{
// On standard error: a line of the table has no room for text.
void tell_messages(const std::vector<mapi::ipc::ListedDevice> &devices)
{
    for (const auto &device : devices) {
        const mapi::ipc::Statistics &stats = device.statistics();
        for (const std::string &text : {stats.message(), stats.remark()}) {
            if (!text.empty())
                command::tell("mapi-info: device {}: {}\n",
                              command::printable(device.info().device()), command::printable(text));
        }
    }
}

void list(Mapid &mapid, const Options &options)
{
    const bool is_all = options.command == Command::kAll;
    const bool has_devices = is_all || options.command == Command::kDevices;
    std::vector<mapi::ipc::ListedDevice> devices;
    std::vector<mapi::ipc::ListedFlow> flows;
    if (has_devices)
        devices = mapid.devices();
    const bool has_flows = options.command != Command::kDevices;
    if (has_flows)
        flows = mapid.flows();
    if (options.format == "json")
        return command::write_whole(options.output,
                                    json_text(mapid.daemon(), has_devices ? &devices : nullptr,
                                              has_flows ? &flows : nullptr));
    std::string text;
    if (is_all)
        text += daemon_table(mapid.daemon()) + "\n";
    if (has_devices)
        text += devices_table(devices) + (is_all ? "\n" : "");
    if (has_flows)
        text +=
            options.command == Command::kFunctions ? functions_table(flows) : flows_table(flows);
    command::write_whole(options.output, text);
    tell_messages(devices);
}

int run(const Options &options)
{
    Mapid mapid(options.socket);
    if (options.command == Command::kRecord)
        return record(mapid, options);
    if (options.command == Command::kCost)
        return show_cost(mapid, options);
    list(mapid, options);
    return kExitOk;
}
} // namespace
} // namespace mapi_info

int main(int argc, char **argv)
{
    using namespace mapi_info;
    command_keep_standard_files();
    command_ignore_write_signals();
    try {
        Options options;
        if (const auto code = parse_options(argc, argv, options))
            return *code;
        return run(options);
    } catch (const std::exception &error) {
        command::tell("mapi-info: {}\n", error.what());
        return kExitRefused;
    }
}
