// SPDX-License-Identifier: MIT
#include "session.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "alerts.hpp"
#include "common/command/counted.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/status_line.hpp"
#include "common/command/tell.hpp"
#include "rule_table.hpp"
#include "sids/output/alert.hpp"
#include "sids/output/statistics.hpp"
#include "sids/output/table.hpp"

namespace sids
{
namespace
{
using Clock = std::chrono::steady_clock;
using captures_source::MapiError;
using captures_source::Source;

constexpr int kLookMs = 100, kLookWithAlertsMs = 20;
constexpr auto kTimeToRead =
    std::chrono::milliseconds(200); // for what arrived before Ctrl-C or the end of --duration
constexpr double kScreenSeconds = 1;
constexpr const char *kClearScreen = "\x1b[H\x1b[2J";

double seconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Session
{
public:
    Session(const Options &options, Source &source)
        : options_(options), source_(source), copies_(options.copy_folder),
          table_({source.name(), options.are_alerts_wanted(), options.are_all_cooked,
                  options.buffer_bytes},
                 copies_),
          is_screen_(!options.is_json() && (options.output.empty() || options.output == "-") &&
                     isatty(STDOUT_FILENO)),
          status_(!options.is_quiet && !is_screen_)
    {
        if (options.are_alerts_wanted())
            alerts_.emplace(options.is_json() ? options.output : options.alerts,
                            options.classification);
    }

    // False if there are errors, which have been reported.
    bool start(std::vector<Rule> rules)
    {
        RuleErrors errors;
        table_.replace(std::move(rules), errors, [](Entry &) {});
        command::tell("{}", errors.text());
        if (alerts_)
            alerts_->set_device(table_.device());
        return errors.are_none();
    }

    // Until the source ends, the time is up or Ctrl-C; whether the source has ended.
    bool run()
    {
        begin_ = Clock::now();
        const double interval_s = options_.interval_s > 0 ? options_.interval_s
                                  : is_screen_            ? kScreenSeconds
                                                          : 0;
        double next_s = interval_s;
        for (size_t ended = 0; !command_was_interrupted();) {
            if (command_take_reload_request()) {
                reload();
                ended = 0;
            }
            const bool has_found = pass_alerts();
            const double passed_s = seconds_since(begin_);
            if (options_.source.is_device() && options_.seconds > 0 && passed_s >= options_.seconds)
                return false;
            if ((interval_s > 0 && passed_s >= next_s) || command_take_show_request()) {
                show();
                next_s = std::max(next_s + interval_s, passed_s);
            }
            show_progress(passed_s);
            ended = skip_ended(ended, has_found);
            if (ended == table_.entries().size() && !has_found)
                return true;
        }
        return false;
    }

    // The exit code without the interrupt's.
    int finish(bool has_ended)
    {
        if (!has_ended && options_.source.is_device())
            read_what_has_arrived();
        table_.look();
        mapi_stat_t stats = source_.stats();
        if (alerts_)
            alerts_->pass_last(table_.entries());
        Totals totals;
        totals.losses = table_.losses();
        totals.rules = size_t(std::count_if(table_.entries().begin(), table_.entries().end(),
                                            [](const auto &entry) { return !entry->is_removed; }));
        close(stats);
        status_.clear();
        for (const auto &entry : table_.entries())
            totals.matched += entry->counts.packets > 0;
        totals.alerts = alerts_ ? alerts_->count() : 0;
        const bool is_whole = captures_source::is_whole(
            stats, "sids", "increase --buffer; alerts or packets of copies are missing");
        const bool is_complete = have_judged_all(totals.losses, options_.is_quiet) && is_whole;
        if (alerts_)
            alerts_->write(statistics_line(stats, totals, is_complete));
        if (!options_.is_json())
            print_table();
        if (!is_complete)
            return kExitIncomplete;
        return options_.is_match_needed && totals.matched == 0 ? kExitNoMatch : kExitDone;
    }

    // The counts of the last look.
    void print_table() const
    {
        print((is_screen_ ? kClearScreen : "") +
              table_text(table_.entries(), options_.are_all_shown));
    }

private:
    // Prints new alerts; whether there were any.
    bool pass_alerts() { return alerts_ && alerts_->pass(table_.entries()); }

    void read_what_has_arrived()
    {
        const auto end = Clock::now() + kTimeToRead;
        while (Clock::now() < end) {
            if (!pass_alerts())
                std::this_thread::sleep_for(std::chrono::milliseconds(kLookWithAlertsMs));
        }
    }

    // The first of the entries from `ended` on that has not ended; waits for it a moment.
    size_t skip_ended(size_t ended, bool has_found) const
    {
        const Entries &entries = table_.entries();
        const int wait_ms = has_found ? 0 : alerts_ ? kLookWithAlertsMs : kLookMs;
        while (ended < entries.size() &&
               (entries[ended]->is_removed || entries[ended]->flow->wait_for_end(0)))
            ++ended;
        if (ended < entries.size() && wait_ms > 0)
            entries[ended]->flow->wait_for_end(wait_ms);
        return ended;
    }

    void reload()
    {
        RuleErrors errors;
        std::vector<Rule> rules = read_rules(options_.rules, errors, Reading::kAgain);
        Change change;
        try {
            if (errors.are_none())
                change = table_.replace(std::move(rules), errors, [&](Entry &entry) {
                    entry.flow->look(entry.counts);
                    if (alerts_)
                        alerts_->pass_last_of(entry);
                });
        } catch (const CopyError &error) {
            errors.add({nullptr, 0, error.what()});
        } catch (const MapiError &error) {
            errors.add({nullptr, 0, error.what()});
        }
        status_.clear();
        if (!errors.are_none())
            command::tell("{}sids: the rules were not read again: {} (the old ones remain)\n",
                          errors.text(), command::counted(errors.count(), "error"));
        else if (!options_.is_quiet)
            command::tell("sids: the rules were read again: {} kept, {} added, {} removed\n",
                          change.kept, change.added, change.removed);
    }

    void show()
    {
        table_.look();
        if (options_.is_json())
            return;
        if (is_screen_)
            print(kClearScreen + screen_text(table_.entries(), options_.are_all_shown, head(),
                                             command::terminal_size()));
        else
            print(table_text(table_.entries(), options_.are_all_shown));
    }

    void print(const std::string &text) const
    {
        command::Output output(options_.output);
        output.text() = text;
        output.finish();
    }

    void show_progress(double passed_s)
    {
        if (!status_.is_on() || passed_s < next_progress_s_)
            return;
        next_progress_s_ = passed_s + kScreenSeconds;
        status_.show(head());
    }

    std::string head() const
    {
        const mapi_stat_t stats = source_.stats();
        return fmt::format("sids: {}, {} s, {}, {} dropped", source_.name(),
                           unsigned(seconds_since(begin_)),
                           command::counted(stats.ps_recv, "packet"), stats.ps_drop);
    }

    // `stats` are of the time of the results, except what concerns files: that is read after
    // closing the flows, because buffered data is written, or lost, only then.
    void close(mapi_stat_t &stats)
    {
        table_.close();
        const mapi_stat_t ended = source_.stats();
        stats.drop_not_written = ended.drop_not_written;
        std::copy(std::begin(ended.message), std::end(ended.message), stats.message);
    }

    const Options &options_;
    Source &source_;
    CopyFolder copies_;
    RuleTable table_;
    std::optional<Alerts> alerts_;
    const bool is_screen_;
    command::StatusLine status_;
    Clock::time_point begin_;
    double next_progress_s_ = kScreenSeconds;
};
} // namespace

int run_session(const Options &options, std::vector<Rule> rules)
{
    const captures_source::CaptureList captures(options.source.captures);
    if (captures.has_stream())
        setenv("MAPI_SOCKET", "none",
               1); // mapid does not accept streams; must precede any call of libmapi
    if (options.source.waits)
        command_catch_interrupts();
    allow_many_files(); // also for copies that come with a reload
    Source source(options.source, captures);
    Session session(options, source);
    if (!session.start(std::move(rules)))
        return kExitUsage;
    if (!command_was_interrupted())
        command_catch_interrupts();
    source.start();
    bool has_ended = false;
    try {
        has_ended = session.run();
        const int code = session.finish(has_ended);
        return command_was_interrupted() && !options.source.is_device() ? kExitInterrupted : code;
    } catch (const MapiError &) {
        session.print_table();
        throw;
    }
}
} // namespace sids
