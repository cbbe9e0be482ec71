// SPDX-License-Identifier: MIT
// mapi-impair: two interfaces and an impairment -> packets forwarded, and what was done to each.
#include <exception>
#include <optional>

#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/command/tell.hpp"
#include "netem.hpp"
#include "report.hpp"

namespace impair
{
namespace
{
bool is_standard_output(const std::string &path)
{
    return path == "-";
}

int forward(const Options &options)
{
    std::array<Port, kDirections> ports = {Port(options.interfaces[kForward]),
                                           Port(options.interfaces[kBackward])};
    std::optional<Log> log;
    if (!options.log.empty())
        log.emplace(options.log, first_line(options));
    if (!options.is_quiet)
        command::tell("mapi-impair: forwards between {} and {}\n", options.interfaces[kForward],
                      options.interfaces[kBackward]);
    const Result result = Node(options, ports, log ? &*log : nullptr).run();
    if (log)
        log->finish(end_line(result));
    if (!is_standard_output(options.log))
        command::write_whole("", last_lines(options, result));
    tell_missing(options, result);
    if (!result.gone.empty())
        command::tell("mapi-impair: {}\n", result.gone);
    return result.gone.empty() ? kExitDone : kExitFailed;
}
} // namespace
} // namespace impair

int main(int argc, char **argv)
{
    using namespace impair;
    command_keep_standard_files();
    command_ignore_write_signals();
    Options options;
    try {
        if (const auto code = parse_options(argc, argv, options))
            return *code;
        command_catch_interrupts();
        return options.is_netem ? run_netem(options) : forward(options);
    } catch (const command::OutputClosed &) {
        return kExitDone;
    } catch (const std::exception &error) {
        command::tell("mapi-impair: {}\n", error.what());
        return kExitFailed;
    }
}
