// SPDX-License-Identifier: MIT
// options: command line -> struct.
#include "options.hpp"

#include <algorithm>
#include <map>
#include <utility>

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
    "Examples:\n"
    "  mapi-cost -r trace.pcap\n"
    "  mapi-cost -r trace.pcapng -w cost.json --write-csv cost.csv\n"
    "  mapi-cost -i eth0 -d 10\n"
    "  mapi-cost -i eth0 --record\n"
    "  mapi-cost -r trace.pcap --flow 'COOKING 0 0 0 3 | STR_SEARCH passwd 0 0 | TO_BUFFER' --flow "
    "\"PKTINFO 1 | STATS @1 0\"\n"
    "  mapi-cost -r trace.pcap --scenario table4 --filter 'tcp port 80'\n"
    "  mapi-cost -r trace.pcap --no-instructions -c 2000000 --json | jq '.rows[].cycles'\n"
    "\n"
    "Exit codes: 0 measured; 1 measured, but the capture is damaged, records were lost, or "
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

// A file that is written in addition to what is printed.
std::string check_file(const std::string &text, const char *format)
{
    if (text == "-")
        return std::string("cannot be standard output, to which --format already prints (use "
                           "--format ") +
               format + ", or specify a file)";
    return command::is_given(text);
}

std::string check_json_file(const std::string &text)
{
    return check_file(text, "json");
}

std::string check_csv_file(const std::string &text)
{
    return check_file(text, "csv");
}

// What stands in no member of Options as it is given.
struct Given {
    std::string device;
    std::string source = "auto";
    std::string clock = "ordered";
    bool is_per_packet = false;
    // options of a measurement, which --list does not use
    std::vector<std::pair<std::string, command::Argument>> known;

    void add(const std::string &name, const command::Argument &argument)
    {
        known.emplace_back(name, argument);
    }
    bool has(const std::string &name) const
    {
        return std::any_of(known.begin(), known.end(), [&](const auto &option) {
            return option.first == name && option.second.was_given();
        });
    }
};

void add_source(command::Arguments &arguments, Options &options, Given &given)
{
    given.add("-r", arguments.add("-r,--read", options.capture, "pcap or pcapng file to measure on")
                        .kind("FILE")
                        .check(command::is_given));
    given.add("-i", arguments
                        .add("-i,--interface", given.device,
                             "measure on the packets of a network interface or a device of "
                             "mapi.conf as they arrive")
                        .kind("IFACE")
                        .check(command::is_given));
    given.add("--record",
              arguments.add_flag("--record", options.is_recorded,
                                 "record packets of the device first and measure on these, so that "
                                 "all rows use the same packets"));
    given.add("-d", arguments
                        .add("-d,--duration", options.run.seconds,
                             "maximum duration of a pass on a device, or of its recording")
                        .kind("SECONDS")
                        .show_default()
                        .range(uint64_t{1}, uint64_t{86400}));
    given.add("--erf", arguments.add_flag("--erf", options.is_erf,
                                          "the capture is an ERF file of a DAG card; measure on "
                                          "its first --count packets as a pcap file"));
}

void add_rows(command::Arguments &arguments, Options &options, Given &given)
{
    given.add("--scenario",
              arguments
                  .add("--scenario", options.scenarios,
                       "run this scenario, or table2, table3, table4; may be repeated")
                  .kind("NAME")
                  .check(check_scenario)
                  .one_each_time());
    given.add("--flow", arguments
                            .add("--flow", options.flows,
                                 "run a flow of these functions, as in \"BPF_FILTER 'tcp port 80' "
                                 "| TO_BUFFER 1\"; @1 is the flow's first function; may be "
                                 "repeated")
                            .kind("FUNCTIONS")
                            .one_each_time());
    arguments.add_flag("--list", options.is_list, "list the scenarios and exit");
    given.add("--filter", arguments
                              .add("--filter", options.filter,
                                   "expression for BPF_FILTER; default \"src port 2005\" if a "
                                   "packet matches it, otherwise \"tcp\"")
                              .kind("EXPR"));
    given.add("--string",
              arguments
                  .add("--string", options.text,
                       "string for STR_SEARCH in the row of five functions; default \"www\"")
                  .kind("STRING"));
    given.add("-c", arguments
                        .add("-c,--count", options.run.packets,
                             "minimum number of packets to time in each scenario; on a device, a "
                             "pass ends once they have arrived")
                        .kind("COUNT")
                        .show_default()
                        .range(uint64_t{1}, uint64_t{1} << 32));
    given.add("--per-packet",
              arguments.add_flag("--per-packet", given.is_per_packet,
                                 "hand packets to the engine one by one, not in batches of 64"));
}

void add_measuring(command::Arguments &arguments, Options &options, Given &given)
{
    given.add("--clock", arguments
                             .add("--clock", given.clock,
                                  "ordered: slices are fenced; fast: probes cost half as much")
                             .one_of({"ordered", "fast"})
                             .show_default());
    given.add("--source", arguments.add("--source", given.source, "source of instruction counts")
                              .one_of({"auto", "rdpmc", "perf-read", "papi", "step"})
                              .show_default());
    given.add("--step-units",
              arguments
                  .add("--step-units", options.run.step_units,
                       "number of batches to count when instructions are single-stepped")
                  .show_default()
                  .range(2, 100'000u));
    given.add("--no-thinning",
              arguments.add_flag("!--no-thinning", options.run.is_thinned,
                                 "do not measure by random thinning what the probes inside slices "
                                 "cost; use only their calibrated cost"));
    given.add("--no-instructions",
              arguments.add_flag("!--no-instructions", options.wants_instructions,
                                 "skip the pass that counts instructions"));
}

void add_outputs(command::Arguments &arguments, Options &options, Given &given)
{
    given.add("-w", arguments
                        .add("-w,--write", options.json_file,
                             "write JSON (netslice-mapi-cost-1) to this file, in addition to the "
                             "output")
                        .kind("FILE")
                        .check(check_json_file));
    given.add("--write-csv", arguments
                                 .add("--write-csv", options.csv_file,
                                      "write CSV to this file, in addition to the output")
                                 .kind("FILE")
                                 .check(check_csv_file));
    arguments.add_format(options.format, {"text", "json", "csv"});
    given.add("--details",
              arguments.add_flag("--details", options.has_details,
                                 "also print how the figures were obtained, the additive model "
                                 "and the parts of each scenario"));
    arguments.add("-o,--output", options.output, "file to print to; -: standard output (default)")
        .kind("FILE")
        .check(command::is_given);
    arguments.add_flag("-q,--quiet", options.is_quiet,
                       "no progress and no notes; only errors and what is missing");
}

// Throws WrongUse.
void check_list(const Given &given)
{
    for (const auto &[name, argument] : given.known)
        if (argument.was_given())
            throw command::WrongUse("--list cannot be combined with " + name);
}

// Throws WrongUse.
void check_source(const Given &given)
{
    const bool is_device = given.has("-i");
    for (const char *const name : {"-r", "--erf"})
        if (is_device && given.has(name))
            throw command::WrongUse(std::string(name) + " cannot be combined with -i");
    for (const char *const name : {"--record", "-d"})
        if (!is_device && given.has(name))
            throw command::WrongUse(std::string(name) + " requires -i");
    if (!is_device && !given.has("-r"))
        throw command::WrongUse("a source is required: -r FILE or -i IFACE");
}

// Options that nothing would use.  Throws WrongUse.
void check_use(const Options &options, const Given &given)
{
    if (options.has_details && options.format != "text")
        throw command::WrongUse("--details requires --format text: JSON and CSV have everything");
    for (const char *const name : {"--source", "--step-units"})
        if (given.has("--no-instructions") && given.has(name))
            throw command::WrongUse(std::string(name) +
                                    " cannot be combined with --no-instructions");
    if (given.has("--step-units") && given.source != "auto" && given.source != "step")
        throw command::WrongUse("--step-units cannot be combined with --source " + given.source);
    if (!given.has("--string"))
        return;
    if (options.is_live())
        throw command::WrongUse("--string with -i requires --record");
    const auto &all = all_scenarios();
    const bool is_used = std::any_of(all.begin(), all.end(), [&](const Scenario &scenario) {
        return std::count(scenario.functions.begin(), scenario.functions.end(),
                          Function::kSearchText) > 0 &&
               std::any_of(options.scenarios.begin(), options.scenarios.end(),
                           [&](const std::string &name) { return is_chosen(scenario, name); });
    });
    const bool are_all = options.scenarios.empty() && options.flows.empty();
    if (!are_all && !is_used)
        throw command::WrongUse("--string requires --scenario five or table2");
}

// Throws WrongUse.
void combine(Options &options, const Given &given)
{
    if (options.is_list)
        return check_list(given);
    check_source(given);
    options.is_device = given.has("-i");
    check_use(options, given);
    if (options.is_device)
        options.capture = given.device;
}
} // namespace

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    command::Arguments arguments(
        "Measure what monitoring functions cost per packet, on a capture or a live device: "
        "instructions and cycles, next to those of 2004.",
        "mapi-cost");
    arguments.footer(kFooter);
    arguments.version("mapi-cost " NETSLICE_VERSION);
    Given given;
    add_source(arguments, options, given);
    add_outputs(arguments, options, given);
    add_rows(arguments, options, given);
    add_measuring(arguments, options, given);
    arguments.at_end([&] { combine(options, given); });
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
    for (size_t i = 0; i < options.flows.size(); ++i) {
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
