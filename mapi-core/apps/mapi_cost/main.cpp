// SPDX-License-Identifier: MIT
// main: command line -> scenarios one after another -> table, JSON, CSV.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include <fmt/format.h>
#include <nsprobe/recorder.h>

#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/command/tell.hpp"
#include "common/file_error/file_error.h"
#include "decode/error.hpp"
#include "flow_expression/read_calls.hpp"
#include "mapi_cost/output/text.hpp"
#include "measure_source.hpp"
#include "options.hpp"

NSP_IGNORE_ENVIRONMENT; // this program controls its sessions itself

namespace mapi_cost
{
namespace
{
void complain(const std::string &text)
{
    command::tell("mapi-cost: {}\n", text);
}

// A reader that closed the pipe before the results were written did not get them: an error.
void deliver(const std::string &path, const std::string &text)
{
    try {
        command::Output output(path);
        output.text() = text;
        output.finish();
    } catch (const command::OutputClosed &) {
        throw command::OutputError(fmt::format("{}: cannot write: {}",
                                               path == "-" ? "standard output" : path,
                                               nslice_write_error(EPIPE)));
    }
}

int list_scenarios(const Options &options)
{
    const std::vector<Scenario> &all = all_scenarios();
    command::write_whole(options.output.empty() ? "-" : options.output,
                         options.format == "json"  ? scenarios_json(all)
                         : options.format == "csv" ? scenarios_csv(all)
                                                   : scenarios_text(all));
    return kExitOk;
}

// Writes each output even if another one fails, on a full disk for example.  False if any failed.
bool write_results(const Options &options, Results &results)
{
    if (!results.live) // rows of a live device have different packets
        results.models = additive_models(results.rows, results.companions);
    bool are_written = true;
    const auto write = [&](const std::string &path, std::string (*text)(const Results &)) {
        if (path.empty())
            return;
        try {
            deliver(path, text(results));
        } catch (const command::OutputError &error) {
            complain(error.what());
            are_written = false;
        }
    };
    write(options.json_file, json_text);
    write(options.csv_file, csv_text);
    write(options.output.empty() ? "-" : options.output, options.format == "json"  ? json_text
                                                         : options.format == "csv" ? csv_text
                                                         : options.has_details     ? details_text
                                                                                   : summary_text);
    return are_written;
}

int exit_code(const Options &options, const Results &results)
{
    if (results.is_interrupted)
        return kExitInterrupted;
    const Totals &totals = results.totals;
    const bool is_whole =
        totals.equation_holds && totals.issued == totals.drained && !results.survey.is_damaged;
    const bool has_all_figures = std::none_of(results.rows.begin(), results.rows.end(),
                                              [](const Row &row) { return !row.missing.empty(); });
    return is_whole && has_all_figures &&
                   (!options.wants_instructions || !results.instruction_source.empty())
               ? kExitOk
               : kExitFindings;
}

int run(const Options &options)
{
    Results results;
    results.settings = options.run;
    command::check_outputs(options.capture, {options.json_file, options.csv_file, options.output});
    try {
        const TempFolder folder;
        measure_source(options, chosen_scenarios(options), folder, results);
    } catch (const command::Interrupted &) {
        results.is_interrupted = true;
    } catch (const std::exception &error) { // print what was measured so far
        if (results.rows.empty())
            throw;
        results.notes.push_back(fmt::format("Ended early: {}", error.what()));
        write_results(options, results);
        complain(error.what());
        return kExitRefused;
    }
    if (options.format != "text" && !options.is_quiet) // the table has them
        for (const std::string &note : results.notes)
            complain(note);
    if (results.rows.empty() && results.is_interrupted)
        complain("interrupted before the first row; nothing written");
    if (!results.rows.empty() && !write_results(options, results))
        return kExitRefused;
    return exit_code(options, results);
}
} // namespace
} // namespace mapi_cost

int main(int argc, char **argv)
{
    using namespace mapi_cost;
    command_keep_standard_files();
    unsetenv("NETSLICE");             // nsp_session_configure() reads it as well
    setenv("MAPI_SOCKET", "none", 1); // the sessions see only this process, not mapid
    command_catch_interrupts();
    command_ignore_write_signals();
    try {
        Options options;
        if (const auto code = parse_options(argc, argv, options))
            return *code;
        return options.is_list ? list_scenarios(options) : run(options);
    } catch (const command::UsageError &error) {
        complain(error.what());
        return kExitUsage;
    } catch (const flow_expression::ExpressionError &error) {
        complain(error.what());
        return kExitUsage;
    } catch (const std::exception &error) {
        complain(error.what());
        return kExitRefused;
    }
}
