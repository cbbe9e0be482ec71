// SPDX-License-Identifier: MIT
// mapi-flow: a capture or an interface, and functions -> their results.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <thread>

#include <mapi/mapi.h>
#include <sys/stat.h>
#include <unistd.h>

#include "captures/source.hpp"
#include "common/command/counted.hpp"
#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/command/tell.hpp"
#include "flow.hpp"
#include "flow_expression/read_calls.hpp"
#include "json_line.hpp"
#include "lines.hpp"
#include "options.hpp"

namespace mapi_flow
{
namespace
{
using captures_source::Source;
using Clock = std::chrono::steady_clock;
constexpr int kLookMs = 100;
constexpr auto kTimeToRead =
    std::chrono::milliseconds(200); // for what arrived before Ctrl-C or the end of --duration
constexpr const char *kHead = "#flow.function\tname\tpackets\tpassed\tdropped\tresult";

// Not a loss: the results include these packets, only without the information from their headers.
void tell_unread_headers(const Flows &flows)
{
    uint64_t sum = 0;
    for (const auto &flow : flows)
        sum += flow->unread_headers();
    if (sum > 0)
        command::tell("mapi-flow: {} a function could not read the headers of a packet: "
                      "truncated by the capture, malformed or encrypted\n",
                      command::counted(sum, "time"));
}

void tell_given_up(const Flows &flows)
{
    uint64_t sum = 0;
    for (const auto &flow : flows)
        sum += flow->given_up();
    if (sum > 0)
        command::tell("mapi-flow: {} a function could not decide about a packet within its limit "
                      "of steps; the packet did not pass\n",
                      command::counted(sum, "time"));
}

// Counts the functions of a flow whose output file is "-", which is standard output.
size_t count_on_standard_output(const std::string &flow)
{
    static const std::regex file(
        "(^|[^A-Za-z_])(TO_FILE|RES2FILE|FLOW_REPORT)[^|]*?[ \t'\"]-([ \t'\"|]|$)");
    return size_t(std::distance(std::sregex_iterator(flow.begin(), flow.end(), file),
                                std::sregex_iterator()));
}

bool is_stream(int file)
{
    struct stat status = {};
    return fstat(file, &status) == 0 && !S_ISREG(status.st_mode);
}

// is_last: the final results.
void print(const Flows &flows, const Source &source, const Options &options, Lines &lines,
           bool is_last)
{
    if (options.is_json()) {
        lines.print(json_line(flows, source.stats(), is_last));
    } else {
        lines.print(std::string(kHead) + "\n");
        for (const auto &flow : flows)
            flow->print();
    }
    lines.flush();
}

// Waits until all flows have ended, the time is up, the output fails, or Ctrl-C.  Returns whether
// all have ended.
bool wait(const Flows &flows, const Source &source, const Options &options, Lines &lines)
{
    const auto begin = Clock::now();
    const auto passed_s = [&] {
        return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    double next_s = options.interval_s;
    for (size_t i = 0; i < flows.size() && !command_was_interrupted() && !lines.has_failed();) {
        if (options.source.is_device() && options.seconds > 0 && passed_s() >= options.seconds)
            return false;
        if (next_s > 0 && passed_s() >= next_s) {
            print(flows, source, options, lines, false);
            next_s += options.interval_s;
        }
        if (flows[i]->wait(kLookMs))
            ++i;
    }
    return !command_was_interrupted() && !lines.has_failed();
}

// The source's statistics at the time of the results, except what concerns files: those are read
// after closing the flows, because buffered data is written, or lost, only then.
mapi_stat_t close(const Flows &flows, const Source &source)
{
    mapi_stat_t stats = source.stats();
    for (const auto &flow : flows)
        flow->close();
    const mapi_stat_t ended = source.stats();
    stats.drop_not_written = ended.drop_not_written;
    std::copy(std::begin(ended.message), std::end(ended.message), stats.message);
    return stats;
}

int run(const Options &options)
{
    size_t on_output = 0;
    for (const std::string &text : options.flows)
        on_output += count_on_standard_output(text);
    if (on_output + (options.output == "-") > 1) {
        command::tell("mapi-flow: standard output: only one function can write to it (give each "
                      "its own file)\n");
        return kExitUsage;
    }
    const captures_source::CaptureList captures(options.source.captures);
    if ((on_output && is_stream(STDOUT_FILENO)) || captures.has_stream())
        setenv("MAPI_SOCKET", "none",
               1); // mapid does not accept streams; must precede any call of libmapi
    std::optional<Lines> to;
    if (options.output.empty() || options.output == "-")
        to.emplace(on_output ? stderr : stdout);
    else
        to.emplace(options.output, options.source.captures);
    Lines &lines = *to;
    std::vector<std::vector<flow_expression::Call>> calls;
    for (const std::string &text : options.flows) // report errors before anything is opened
        calls.push_back(flow_expression::read_calls(text));
    if (options.source.waits)
        command_catch_interrupts();
    Source source(options.source, captures);
    Flows flows;
    for (const auto &functions : calls)
        flows.push_back(std::make_unique<Flow>(source.name(), options, functions,
                                               unsigned(flows.size() + 1), lines));
    if (!command_was_interrupted())
        command_catch_interrupts();
    for (const auto &flow : flows)
        flow->connect();
    source.start();
    const bool have_ended = wait(flows, source, options, lines);
    for (const auto &flow : flows)
        have_ended ? flow->read_rest() : flow->stop();
    if (!have_ended && options.source.is_device())
        std::this_thread::sleep_for(kTimeToRead);
    print(flows, source, options, lines, true);
    if (!options.is_quiet) {
        tell_unread_headers(flows);
        tell_given_up(flows);
    }
    const bool is_all_there = captures_source::is_whole(
        close(flows, source), "mapi-flow", "increase --buffer, or the function's own limit");
    if (const std::string wrong = lines.finish(); !wrong.empty()) {
        command::tell("mapi-flow: {}\n", wrong);
        return kExitRefused;
    }
    if (command_was_interrupted() && !options.source.is_device())
        return kExitInterrupted;
    return is_all_there ? kExitDone : kExitIncomplete;
}
} // namespace
} // namespace mapi_flow

int main(int argc, char **argv)
{
    using namespace mapi_flow;
    command_keep_standard_files();
    command_ignore_write_signals();
    Options options;
    try {
        if (const auto code = parse_options(argc, argv, options))
            return *code;
        return run(options);
    } catch (const flow_expression::ExpressionError &error) {
        command::tell("mapi-flow: {}\n", error.what());
        return kExitUsage;
    } catch (const command::UsageError &error) {
        command::tell("mapi-flow: {}\n", error.what());
        return kExitUsage;
    } catch (const std::exception &error) {
        if (options.source.waits && command_was_interrupted())
            return kExitInterrupted;
        command::tell("mapi-flow: {}\n", error.what());
        return kExitRefused;
    }
}
