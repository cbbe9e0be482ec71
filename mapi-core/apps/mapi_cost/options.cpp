// SPDX-License-Identifier: MIT
// options: command line -> struct.
#include "options.hpp"

#include <algorithm>
#include <map>

#include "common/command/arguments.hpp"
#include "flow_expression/read_calls.hpp"
#include "mapi_cost/source/scenario.hpp"

namespace mapi_cost
{
namespace
{
const std::map<std::string, nsp_counter_source> kSources = {{"auto", NSP_SOURCE_AUTO},
                                                            {"rdpmc", NSP_SOURCE_RDPMC},
                                                            {"perf-read", NSP_SOURCE_PERF_READ},
                                                            {"papi", NSP_SOURCE_PAPI},
                                                            {"step", NSP_SOURCE_STEP}};
const std::map<std::string, nsp_clock_mode> kClocks = {{"fast", NSP_CLOCK_FAST},
                                                       {"ordered", NSP_CLOCK_ORDERED}};

constexpr const char *kFooter =
    "examples:\n"
    "  mapi-cost trace.pcap\n"
    "  mapi-cost --json cost.json --csv cost.csv trace.pcapng\n"
    "  mapi-cost --interface eth0 --seconds 10\n"
    "  mapi-cost --interface eth0 --record\n"
    "  mapi-cost --flow 'COOKING 0 0 0 3 | STR_SEARCH passwd 0 0 | TO_BUFFER' --flow \"PKTINFO 1 | "
    "STATS @1 0\" trace.pcap\n"
    "  mapi-cost --scenario table4 --filter 'tcp port 80' trace.pcap\n"
    "  mapi-cost --no-instructions --packets 2000000 --json - trace.pcap | jq '.rows[].cycles'\n"
    "\n"
    "exit status: 0 measured; 1 measured, but the capture is damaged, records were lost, or "
    "figures are unavailable (see the\n"
    "notes); 2 invalid usage, or an output that is the capture or another output; 3 refused: "
    "capture, filter, temporary folder\n"
    "(TMPDIR) or output, or no packet arrived from the device; 130 interrupted, completed rows are "
    "printed";

// "search-64", or "table2" for all scenarios of a table.
bool is_chosen(const Scenario &scenario, const std::string &name)
{
    return name == scenario.id || name == "table" + std::to_string(scenario.table);
}

std::string check_scenario(const std::string &name)
{
    const auto &all = all_scenarios();
    const bool is_known = std::any_of(all.begin(), all.end(), [&](const Scenario &scenario) {
        return is_chosen(scenario, name);
    });
    return is_known ? "" : "unknown scenario \"" + name + "\" (see --list)";
}
// What stands in no member of Options as it is given.
struct Given {
    std::string device;
    std::string source = "auto";
    std::string clock = "ordered";
    bool is_per_packet = false;
    std::optional<command::Argument> seconds;
};

void add_source(command::Arguments &arguments, Options &options, Given &given)
{
    arguments.add("capture", options.capture, "pcap or pcapng file").shown_as("CAPTURE");
    arguments
        .add(
            "-i,--interface", given.device,
            "measure on the packets of a network interface or a device of mapi.conf as they arrive")
        .shown_as("DEVICE");
    arguments.add_flag("--record", options.is_recorded,
                       "record packets of the device first and measure on these, so that all rows "
                       "use the same packets");
    given.seconds =
        arguments
            .add("--seconds", options.run.seconds,
                 "maximum duration of a pass on a device, or of its recording; default 5")
            .shown_as("N")
            .range(std::uint64_t{1}, std::uint64_t{86400});
    arguments.add_flag(
        "--erf", options.is_erf,
        "the capture is an ERF file of a DAG card; measure on its first --packets as a pcap file");
}

void add_rows(command::Arguments &arguments, Options &options, Given &given)
{
    arguments
        .add("--scenario", options.scenarios,
             "run this scenario, or table2, table3, table4; may be repeated")
        .shown_as("NAME")
        .check(check_scenario)
        .one_each_time();
    arguments
        .add("--flow", options.flows,
             "run a flow of these functions, as in \"BPF_FILTER 'tcp port 80' | TO_BUFFER 1\"; @1 "
             "is the flow's first function; may be repeated")
        .shown_as("FUNCTIONS")
        .one_each_time();
    arguments.add_flag("--list", options.is_list, "list the scenarios and exit");
    arguments
        .add("--filter", options.filter,
             "expression for BPF_FILTER; default \"src port 2005\" if a packet matches it, "
             "otherwise \"tcp\"")
        .shown_as("EXPR");
    arguments
        .add("--string", options.text,
             "string for STR_SEARCH in the row of five functions; default \"www\"")
        .shown_as("STRING");
    arguments
        .add("--packets", options.run.packets,
             "minimum number of packets to time in each scenario; on a device, a pass ends once "
             "they have arrived; default 200000")
        .shown_as("N")
        .range(std::uint64_t{1}, std::uint64_t{1} << 32);
    arguments.add_flag("--per-packet", given.is_per_packet,
                       "hand packets to the engine one by one, not in batches of 64");
}

void add_measuring(command::Arguments &arguments, Options &options, Given &given)
{
    arguments
        .add("--clock", given.clock,
             "ordered (default): slices are fenced; fast: probes cost half as much")
        .shown_as("MODE")
        .one_of({"ordered", "fast"});
    arguments
        .add("--source", given.source,
             "source of instruction counts: auto (default), rdpmc, perf-read, papi, step")
        .shown_as("NAME")
        .one_of({"auto", "rdpmc", "perf-read", "papi", "step"});
    arguments
        .add("--step-units", options.run.step_units,
             "number of batches to count when instructions are single-stepped; default 10")
        .shown_as("N")
        .range(2, 100'000u);
    arguments.add_flag("!--no-instructions", options.wants_instructions,
                       "skip the pass that counts instructions");
}
} // namespace

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    command::Arguments arguments(
        "Measures what monitoring functions cost per packet, on a capture or a live device: "
        "instructions and cycles, next to those of 2004.");
    arguments.footer(kFooter);
    arguments.version("-V,--version", "mapi-cost " NETSLICE_VERSION);
    Given given;
    add_source(arguments, options, given);
    const command::Argument json =
        arguments
            .add("--json", options.json,
                 "write JSON (netslice-mapi-cost-1); - is standard output, instead of the table")
            .shown_as("FILE");
    const command::Argument csv =
        arguments.add("--csv", options.csv, "write CSV; - is standard output, instead of the table")
            .shown_as("FILE");
    add_rows(arguments, options, given);
    add_measuring(arguments, options, given);
    arguments.at_end([&] {
        if (!given.device.empty() && (!options.capture.empty() || options.is_erf))
            throw command::WrongUse("--interface cannot be combined with a capture or --erf");
        options.is_device = !given.device.empty();
        if (!options.is_device && (options.is_recorded || given.seconds->was_given()))
            throw command::WrongUse("--record and --seconds require --interface");
        if (options.is_device)
            options.capture = given.device;
        if (options.capture.empty() && !options.is_list)
            throw command::WrongUse("CAPTURE is required");
        if ((json.was_given() && options.json.empty()) || (csv.was_given() && options.csv.empty()))
            throw command::WrongUse("--json and --csv require a file name");
        if (options.json == "-" && options.csv == "-")
            throw command::WrongUse("--json and --csv cannot both write to standard output");
    });
    if (const auto reply = arguments.parse(argc, argv)) {
        reply->print();
        return reply->is_wrong ? kExitUsage : kExitOk;
    }
    options.run.batch_packets = given.is_per_packet ? 1 : MAPI_BATCH_MAX;
    options.run.source = kSources.at(given.source);
    options.run.clock = kClocks.at(given.clock);
    return std::nullopt;
}

std::vector<Scenario> chosen_scenarios(const Options &options)
{
    std::vector<Scenario> chosen;
    if (options.scenarios.empty() && options.flows.empty())
        return all_scenarios();
    for (const Scenario &scenario : all_scenarios())
        if (std::any_of(options.scenarios.begin(), options.scenarios.end(),
                        [&](const std::string &name) { return is_chosen(scenario, name); }))
            chosen.push_back(scenario);
    for (std::size_t i = 0; i < options.flows.size(); ++i) {
        try {
            chosen.push_back(own_flow(options.flows[i], unsigned(i + 1)));
        } catch (const flow_expression::ExpressionError &error) {
            throw flow_expression::ExpressionError("--flow \"" + options.flows[i] +
                                                   "\": " + error.what());
        }
    }
    return chosen;
}
} // namespace mapi_cost
