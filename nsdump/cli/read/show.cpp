// SPDX-License-Identifier: MIT
// nsdump show: trace -> its events in time order, for people.
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "analyse/event_selection.hpp"
#include "analyse/losses.hpp"
#include "cli/commands.hpp"
#include "cli/read/finish.hpp"
#include "cli/read/seek.hpp"
#include "cli/read/selection.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "decode/clock.hpp"
#include "decode/event.hpp"
#include "decode/merge.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxThreads = 65536;

struct Options {
    std::string trace;
    uint64_t limit = std::numeric_limits<uint64_t>::max();
    std::optional<uint32_t> cpu;
    std::optional<uint32_t> thread;
    Selection selection;
    bool raw = false;
    std::string output;
    bool is_quiet = false;
};

struct Open {
    NameId name;
    uint64_t ticks;
    std::vector<uint64_t> counters;
};

// What is open on each thread, for indentation and durations.
class Stacks
{
public:
    struct Place {
        size_t depth = 0;
        std::optional<Open> start; // the matching START of a STOP, if any
    };

    Place note(NameId name, const Event &event, bool is_kernel)
    {
        if (stacks_.size() > kMaxThreads)
            stacks_.clear(); // bounds the memory that a hostile trace can use
        std::vector<Open> &stack = stacks_[stack_of(event, is_kernel)];
        Place place;
        place.depth = stack.size();
        if (event.kind == NSLICE_KIND_START && stack.size() < kMaxDepth) {
            stack.push_back({name, event.ticks, {event.words, event.words + event.word_count}});
        } else if (event.kind == NSLICE_KIND_STOP) {
            size_t at = stack.size();
            while (at > 0 && stack[at - 1].name != name)
                --at;
            if (at == 0)
                return place;
            place.depth = at - 1;
            place.start = std::move(stack[at - 1]);
            stack.resize(at - 1);
        }
        return place;
    }

    void clear() { stacks_.clear(); }

private:
    std::unordered_map<uint64_t, std::vector<Open>> stacks_;
};

class Show
{
public:
    Show(TraceFile &trace, const Options &options)
        : trace_(trace), options_(options), clock_(clock_of(trace)),
          output_(options.output, {options.trace}),
          selection_(trace.names(), options.selection.unit, options.selection.slice)
    {
        in_ticks_ = options.raw || clock_.hz <= 0;
        zero_ticks_ = zero_ticks_of(trace, clock_);
    }

    int run();

private:
    void line(const Event &event, NameId name, const Stacks::Place &place, bool is_kernel);
    bool is_selected(const Event &event) const;
    void details(const Event &event, const Stacks::Place &place, bool is_kernel,
                 std::string &out) const;
    std::string time_text(int64_t ticks) const
    {
        return in_ticks_ ? fmt::format("{}", ticks)
                         : fmt::format("{:.1f}", clock_.ns(double(ticks)));
    }
    const std::string &name_text(NameId name);

    TraceFile &trace_;
    const Options &options_;
    Clock clock_;
    command::Output output_;
    bool in_ticks_;
    uint64_t zero_ticks_;
    EventSelection selection_;
    std::vector<std::string> texts_;
};

const std::string &Show::name_text(NameId name)
{
    if (name >= texts_.size())
        texts_.resize(name + 1);
    if (texts_[name].empty())
        texts_[name] = printable(trace_.names()[name].text);
    return texts_[name];
}

void Show::details(const Event &event, const Stacks::Place &place, bool is_kernel,
                   std::string &out) const
{
    const auto to = std::back_inserter(out);
    const auto &names = is_kernel ? trace_.kernel_counter_names() : trace_.counter_names();
    if (event.kind == NSLICE_KIND_STOP) {
        if (!place.start) {
            out += "  (no START)";
            return;
        }
        const auto raw_ticks = int64_t(event.ticks - place.start->ticks);
        fmt::format_to(to, "  {} {}", time_text(raw_ticks), in_ticks_ ? "ticks" : "ns");
        if (event.word_count == place.start->counters.size() && event.word_count == names.size())
            for (size_t i = 0; i < names.size(); ++i)
                fmt::format_to(to, "  {} {}", printable(names[i]),
                               int64_t(event.words[i] - place.start->counters[i]));
    } else if (event.kind == NSLICE_KIND_INIT && event.word_count >= NSLICE_INIT_WORDS) {
        fmt::format_to(to, "  number {}, {} packets, {} bytes", event.words[0], event.words[1],
                       event.words[2]);
    } else if (event.kind == NSLICE_KIND_MARK && event.word_count >= NSLICE_MARK_WORDS) {
        fmt::format_to(to, "  {}", event.words[0]);
    }
}

void Show::line(const Event &event, NameId name, const Stacks::Place &place, bool is_kernel)
{
    const auto since_start = int64_t(event.ticks - zero_ticks_);
    const std::string time = options_.raw ? fmt::format("{}", event.ticks) : time_text(since_start);
    fmt::format_to(std::back_inserter(output_.text()), "{:>16} {:>4} {:>8}  {:{}}{:<5} {}", time,
                   event.cpu, event.thread_id, "", 2 * place.depth, kind_name(event.kind),
                   name_text(name));
    details(event, place, is_kernel, output_.text());
    output_.text() += '\n';
}

bool Show::is_selected(const Event &event) const
{
    return (!options_.cpu || *options_.cpu == event.cpu) &&
           (!options_.thread || *options_.thread == event.thread_id);
}

int Show::run()
{
    output_.text() +=
        fmt::format("{:>16} {:>4} {:>8}  event\n", in_ticks_ ? "ticks" : "ns", "cpu", "thread");
    Stacks stacks;
    Merger merger(trace_, Order::kTime, plan_of(options_.selection, trace_, options_.is_quiet));
    Run run;
    uint64_t shown = 0;
    while (shown < options_.limit && !command_was_interrupted() && merger.next(run)) {
        if (run.begins_window)
            stacks.clear(); // what was open may have ended where nothing was read
        for (const Event &event : run.events) {
            const auto [name, is_kernel, is_chosen] = selection_.see(run, event);
            const Stacks::Place place = stacks.note(name, event, is_kernel);
            if (!is_chosen || !is_selected(event) || run.is_lead_in)
                continue;
            if (shown++ == options_.limit)
                break;
            line(event, name, place, is_kernel);
        }
        output_.flush_when_full();
    }
    end_output(output_);
    return finish_reading(trace_, merger);
}

int run_show(const Options &options)
{
    check_trace_name(options.trace);
    TraceFile trace(options.trace);
    check_slice(trace, options.selection.slice);
    check_cpu(trace, options.cpu);
    return Show(trace, options).run();
}

constexpr const char *kExamples = R"(
  nsdump show trace.nsl -c 50              the first 50 events
  nsdump show trace.nsl --slice parse      only the events of the slice "parse"
  nsdump show trace.nsl --unit 1234        what happened in unit 1234
  nsdump show trace.nsl --from 1.5s --to 1501ms
  nsdump show trace.nsl --cpu 3 -o 3.txt   the events of CPU 3, into a file
)";

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    add_trace(arguments, options->trace);
    arguments.add("-c,--count", options->limit, "maximum number of events to show")
        .kind("COUNT")
        .check(is_count);
    arguments.add("--cpu", options->cpu, "only events of this CPU").check(is_count);
    arguments.add("--thread", options->thread, "only events of this thread").check(is_count);
    arguments.add("--unit", options->selection.unit, "only events of the unit with this number")
        .check(is_count);
    arguments.add("--slice", options->selection.slice, "only events with this name")
        .kind("NAME")
        .check(command::is_given);
    add_time_range(arguments, options->selection.range);
    arguments.add_flag("--raw", options->raw, "clock ticks instead of nanoseconds since the start");
    add_output(arguments, options->output);
    add_quiet(arguments, options->is_quiet);
    arguments.footer(help_footer(kExamples));
    return [options] { return run_show(*options); };
}
} // namespace

const Command kShow = {"show", "Show events in time order, indented by depth, with raw durations",
                       add};
} // namespace nsdump
