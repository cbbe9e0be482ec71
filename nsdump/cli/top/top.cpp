// SPDX-License-Identifier: MIT
// nsdump top: a running process -> its slices, live: on the screen, as tables or as JSON lines.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <unistd.h>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/record/kernel_side.hpp"
#include "cli/record/session_options.hpp"
#include "cli/top/find_process.hpp"
#include "cli/top/session.hpp"
#include "cli/top/text.hpp"
#include "cli/top/view.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/tell.hpp"
#include "common/command/terminal.hpp"

namespace nsdump
{
namespace
{
constexpr int kPollMilliseconds = 1; // as `nsdump record`

struct Options {
    int pid = 0;
    std::string name;
    SessionOptions session;
    std::string slices;
    std::string sort = "time";
    std::string filter;
    std::string format = "text";
    std::string output;
    double interval_s = 1;
    uint64_t count = 0; // 0: no limit
    bool is_once = false;
    bool is_quiet = false;
};

// Where intervals go.
class Display
{
public:
    virtual ~Display() = default;
    virtual void show(const TopInterval &interval) = 0;
    // Whether the user wants to quit; returns after a moment.
    virtual bool pause(int milliseconds) = 0;
    virtual void finish(const std::optional<TopInterval> &last) = 0;
};

class Lines : public Display
{
public:
    Lines(const Options &options, TopOrder order)
        : is_json_(options.format == "json"), order_(std::move(order)), output_(options.output)
    {
    }
    void show(const TopInterval &interval) override
    {
        const std::vector<TopRow> rows = rows_of(interval, order_);
        if (is_json_)
            output_.text() += top_json(interval, rows);
        else
            output_.text() += (has_shown_ ? "\n" : "") + top_table(interval, rows, order_);
        has_shown_ = true;
        output_.flush();
    }
    bool pause(int milliseconds) override
    {
        if (milliseconds > 0)
            command_pause(milliseconds);
        return false;
    }
    void finish(const std::optional<TopInterval> &last) override
    {
        if (last)
            show(*last);
        output_.finish();
    }

private:
    bool is_json_, has_shown_ = false;
    TopOrder order_;
    command::Output output_;
};

class OnScreen : public Display
{
public:
    explicit OnScreen(TopOrder order) : view_(std::move(order)) { draw(); }

    void show(const TopInterval &interval) override
    {
        view_.take(interval);
        draw();
    }
    bool pause(int milliseconds) override
    {
        const std::optional<char> key = screen_->read_key(milliseconds);
        if (key)
            view_.press(*key);
        if (key || screen_->take_resize())
            draw();
        return view_.wants_to_quit();
    }
    // The last values stay to be read.
    void finish(const std::optional<TopInterval> &last) override
    {
        screen_.reset();
        if (!last)
            return;
        view_.take(*last);
        command::write_whole("-", view_.table({~size_t{0}, columns()}));
    }

private:
    static size_t columns() { return command::terminal_size().columns; }
    void draw() { screen_->show(view_.frame(command::terminal_size().rows, columns())); }

    std::unique_ptr<command::FullScreen> screen_ = std::make_unique<command::FullScreen>();
    TopView view_;
};

std::unique_ptr<Display> display_for(const Options &options)
{
    TopOrder order;
    order.sort =
        TopSort(std::find(kTopSorts.begin(), kTopSorts.end(), options.sort) - kTopSorts.begin());
    order.filter = options.filter;
    const bool is_screen = options.format == "text" && !options.is_once &&
                           (options.output.empty() || options.output == "-") &&
                           isatty(STDOUT_FILENO) == 1;
    if (is_screen)
        return std::make_unique<OnScreen>(std::move(order));
    return std::make_unique<Lines>(options, std::move(order));
}

// Returns whether the program has ended.
bool watch(TopSession &session, Display &display, const Options &options)
{
    const uint64_t count = options.is_once ? 1 : options.count;
    uint64_t shown = 0;
    while (!command_was_interrupted()) {
        const bool has_ended = session.has_ended(); // before the last records are drained
        const bool is_busy = session.drain();
        if (has_ended)
            return true;
        if (session.interval_s() >= options.interval_s) {
            display.show(session.end_interval());
            if (++shown == count)
                return false;
        }
        if (display.pause(is_busy ? 0 : kPollMilliseconds))
            return false;
    }
    return false;
}

int run(const Options &options)
{
    const int pid =
        options.pid != 0 ? options.pid : find_process(options.name, attachable_processes());
    command::check_outputs("", {options.output});
    TopSession session(pid, options.session, options.slices);
    const std::unique_ptr<Display> display = display_for(options);
    const bool has_ended = watch(session, *display, options);
    if (!has_ended) {
        display->finish(std::nullopt);
        session.finish(false);
        return command_was_interrupted() ? kExitInterrupted : kExitOk;
    }
    display->finish(session.finish(true));
    if (!options.is_quiet)
        command::tell("nsdump: process {}: program ended\n", pid);
    return kExitOk;
}

constexpr char kFooter[] =
    R"(The process must accept recorders (NETSLICE=attach=yes in its environment, or
NET_SLICE_CONF("attach=yes")), and no other recorder may be attached.  On a terminal, the screen
shows the slices until q or Ctrl-C; h lists the keys.  Elsewhere, a table or a line of JSON
(netslice-top-1) is printed after each interval.  The kernel is not watched.

Examples:
  nsdump top -p 1234
  nsdump top mapid --sort packet
  nsdump top mapid --counters instructions --once --json | jq '.slices[0]'

Exit codes:
  0    success; also if the program ended
  2    invalid usage; no process of that name accepts recorders, or several do
  3    the process cannot be attached to with these options
  4    the output cannot be written
  130  interrupted)";

void add_output_options(command::ArgumentSet &arguments, Options &options)
{
    arguments.add("--sort", options.sort, "largest first")
        .one_of({kTopSorts.begin(), kTopSorts.end()})
        .show_default();
    arguments.add("--filter", options.filter, "show only slices whose name contains this text")
        .kind("TEXT")
        .check(command::is_given);
    arguments.add("--interval", options.interval_s, "time between two updates")
        .kind("SECONDS")
        .check(is_duration)
        .show_default();
    arguments.add_format(options.format, {"text", "json"}, "format where there is no screen");
    add_output(arguments, options.output);
}

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    const command::Argument pid =
        arguments.add("-p,--pid", options->pid, "process to watch").kind("PID").check(is_positive);
    const command::Argument name =
        arguments.add("--name,name", options->name, "name of the process to watch, e.g. mapid")
            .kind("NAME")
            .check(command::is_given);
    const Check check_counters = add_counter_options(arguments, options->session);
    add_slices(arguments, options->slices);
    add_clock_option(arguments, options->session);
    add_ring_option(arguments, options->session);
    add_output_options(arguments, *options);
    const command::Argument count =
        arguments.add("-c,--count", options->count, "end after this many intervals")
            .check(is_positive);
    arguments.add_flag("--once", options->is_once, "print one interval and end");
    add_quiet(arguments, options->is_quiet);
    arguments.footer(kFooter);
    arguments.at_end([options, pid, name, count, check_counters] {
        if (!pid.was_given() && !name.was_given())
            throw command::WrongUse("a name or --pid is required");
        if (name.was_given())
            command::refuse({pid}, "cannot be combined with a name");
        if (options->is_once)
            command::refuse({count}, "cannot be combined with --once");
        check_counters();
    });
    return [options] { return run(*options); };
}
} // namespace

const Command kTop = {"top", "Watch the slices of a running process", add};
} // namespace nsdump
