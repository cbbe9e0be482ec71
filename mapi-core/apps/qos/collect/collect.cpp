// SPDX-License-Identifier: MIT
// collect: one thread reads selected packets into a queue, this one stores them.
#include "qos/collect/collect.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "common/command/counted.hpp"
#include "common/command/printable.hpp"
#include "common/command/signals.h"
#include "common/command/status_line.hpp"
#include "common/command/tell.hpp"
#include "qos/collect/packet_queue.hpp"
#include "qos/collect/selection.hpp"
#include "qos/collect/stored_time.hpp"
#include "qos/collect/storing.hpp"

namespace qos
{
namespace
{
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kBatch = 8192; // packets of a transaction
constexpr size_t kMostTaken = 2 * kBatch;
constexpr milliseconds kLook(200);
constexpr milliseconds kTimeToRead(200); // for what arrived before Ctrl-C or the end of --duration
constexpr auto kLongestUnwritten = std::chrono::seconds(1); // then a smaller batch is written, too
// How long a packet may take through the kernel and libmapi's buffer into the queue.
constexpr int64_t kLongestWayNs = 1000000000;

int64_t wall_clock_ns()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

Run run_of(const CollectOptions &options)
{
    std::random_device random;
    Run run;
    run.id = int64_t((uint64_t(random()) << 32 | random()) >> 1);
    run.point = options.point;
    run.source = options.source.device;
    for (const std::string &path : options.source.captures)
        run.source += (run.source.empty() ? "" : " ") + command::printable(path);
    run.started_ns = wall_clock_ns();
    run.below = options.below;
    run.key = int64_t(options.key);
    run.payload_bytes = int64_t(options.payload_bytes);
    return run;
}

class Collector
{
public:
    explicit Collector(const CollectOptions &options)
        : options_(options), queue_(options.buffer, !options.source.is_device()),
          selection_(options, queue_),
          storing_([&options] { return open_store(options.store, Access::kWrite); },
                   run_of(options),
                   [&options](const std::string &text) {
                       command::tell("mapi-qos: {}: {}\n", shown_store(options.store), text);
                   })
    {
    }

    int run()
    {
        command_catch_interrupts();
        began_ = Clock::now();
        selection_.start();
        try {
            while (!is_over())
                step();
            finish();
        } catch (const StoreError &error) {
            give_up(error.what());
        }
        return tell_end();
    }

private:
    bool is_over()
    {
        const std::chrono::duration<double> passed = Clock::now() - began_;
        const bool is_time_up = options_.source.is_device() && options_.seconds > 0 &&
                                passed.count() >= options_.seconds;
        return queue_.has_ended() || is_time_up || command_was_interrupted() || has_given_up();
    }

    // A capture waits for its store, but not forever.
    bool has_given_up() const
    {
        return !options_.source.is_device() && storing_.is_away() &&
               double(storing_.away_for().count()) >= options_.patience_s * 1000;
    }

    void step()
    {
        if (storing_.is_away()) {
            if (!write())
                command_pause(int(kLook.count()));
            return;
        }
        const int64_t before_ns = options_.source.is_device() ? wall_clock_ns() - kLongestWayNs : 0;
        take(kBatch, kLook, before_ns);
        if (storing_.waiting_packets() >= kBatch || Clock::now() - written_ >= kLongestUnwritten)
            write();
        show_progress();
    }

    // Returns whether nothing was left behind; see StoredTime.
    bool take(size_t least, milliseconds timeout, int64_t until_ns)
    {
        const auto packets = queue_.take(least, kMostTaken, timeout);
        const bool is_all = packets.size() < kMostTaken;
        stored_time_.take(packets, is_all, until_ns);
        storing_.add(packets);
        return is_all;
    }

    bool write()
    {
        update_run();
        const bool is_written = storing_.write();
        if (is_written)
            written_ = Clock::now();
        return is_written;
    }

    void update_run()
    {
        const SelectionCounts &counts = selection_.counts();
        const mapi_stat_t &stats = selection_.stats();
        Run &run = storing_.run();
        run.packets = int64_t(counts.packets);
        run.selected = int64_t(counts.selected);
        run.unread = int64_t(counts.unread);
        run.malformed = int64_t(counts.malformed);
        run.lost = int64_t(stats.drop_kernel + stats.ps_ifdrop + counts.dropped);
        run.no_room = int64_t(queue_.no_room());
        // A device was watched also while no packet arrived.  The packets of a capture are in order
        // of arrival, not of time.
        run.first_ns = options_.source.is_device() ? std::min(run.started_ns, wall_clock_ns())
                                                   : std::min(counts.first_ns, counts.last_ns);
        run.last_ns = std::max({run.last_ns, run.first_ns, stored_time_.last_ns()});
    }

    // The time up to which all packets are in the queue when the selection has stopped; 0: unknown.
    int64_t end_of_selection(bool is_whole)
    {
        if (options_.source.is_device()) {
            if (is_whole) // the device has ended, at an unknown time
                return 0;
            const int64_t end_ns = wall_clock_ns();
            std::this_thread::sleep_for(kTimeToRead);
            return end_ns;
        }
        if (!is_whole)
            return 0;
        const SelectionCounts &counts = selection_.counts();
        return std::max(counts.first_ns, counts.last_ns);
    }

    // What has arrived is stored, for which a store that is away gets some time.
    void finish()
    {
        const bool is_whole = queue_.has_ended();
        const int64_t end_ns = end_of_selection(is_whole);
        stop_selection(is_whole);
        update_run();
        const bool is_complete =
            (is_whole || options_.source.is_device()) && selection_.failure().empty();
        const double patience_s = has_given_up() ? 0 : options_.patience_s;
        const auto until = Clock::now() + milliseconds(int64_t(patience_s * 1000));
        bool is_all_taken = false;
        while (!is_run_stored_) {
            if (!storing_.is_away()) {
                is_all_taken = take(0, milliseconds(0), end_ns);
                storing_.run().is_complete = is_complete && is_all_taken;
                update_run();
            }
            is_run_stored_ = storing_.write() && is_all_taken;
            if (is_run_stored_ || !storing_.is_away())
                continue;
            if (Clock::now() >= until)
                break;
            command_pause(int(kLook.count()));
        }
        note_unstored(storing_.why_away());
    }

    // Of a store that cannot be used any more.
    void give_up(const std::string &why)
    {
        stop_selection(false);
        update_run();
        note_unstored(why);
    }

    void stop_selection(bool is_whole)
    {
        if (!options_.source.is_device() && !is_whole)
            queue_.close();
        selection_.stop();
    }

    void note_unstored(const std::string &why)
    {
        unstored_ = storing_.waiting_packets() + queue_.size();
        why_unstored_ = why;
    }

    void show_progress()
    {
        if (!options_.is_quiet && Clock::now() - began_ >= std::chrono::seconds(1))
            line_.show(fmt::format("{} of {} packets selected", storing_.run().selected,
                                   storing_.run().packets));
    }

    // Returns the exit code.
    int tell_end()
    {
        line_.clear();
        const Run &run = storing_.run();
        const mapi_stat_t &stats = selection_.stats();
        bool is_missing = false;
        const auto tell_missing = [&](uint64_t count, const char *what) {
            if (count > 0)
                command::tell("mapi-qos: {} {}\n", command::counted(count, "packet"), what);
            is_missing |= count > 0;
        };
        if (!options_.is_quiet)
            command::tell("mapi-qos: {} of {} selected at point {}\n", run.selected,
                          command::counted(uint64_t(run.packets), "packet"), run.point);
        if (run.unread > 0 && !options_.is_quiet)
            command::tell("mapi-qos: {} could not be selected: headers truncated or unknown, or "
                          "fewer bytes captured than the hash covers (--payload)\n",
                          command::counted(uint64_t(run.unread), "packet"));
        if (!selection_.failure().empty()) {
            command::tell("mapi-qos: no more packets: {}\n", selection_.failure());
            is_missing = true;
        }
        if (*stats.message) {
            command::tell("mapi-qos: {}\n", stats.message);
            is_missing = true;
        }
        tell_missing(uint64_t(run.lost), "lost before selection: the kernel's buffer or libmapi's "
                                         "was full (increase buffer_mb in mapi.conf)");
        tell_missing(uint64_t(run.no_room),
                     "not stored: the buffer was full while the store was away or slow (increase "
                     "--buffer)");
        tell_missing(uint64_t(run.malformed), "not stored: their time cannot be represented");
        if (!is_run_stored_) {
            command::tell("mapi-qos: {}: {} not stored: {}\n", shown_store(options_.store),
                          command::counted(unstored_, "packet"), why_unstored_);
            is_missing = true;
        }
        if (command_was_interrupted() && !options_.source.is_device())
            return kExitInterrupted;
        return is_missing ? kExitIncomplete : kExitDone;
    }

    const CollectOptions &options_;
    PacketQueue queue_;
    Selection selection_; // first, so that a source that is refused creates no store
    Storing storing_;
    StoredTime stored_time_;
    command::StatusLine line_;
    Clock::time_point began_, written_; // the first step writes, so that the run can be seen
    uint64_t unstored_ = 0;
    std::string why_unstored_;
    bool is_run_stored_ = false;
};
} // namespace

int collect(const CollectOptions &options)
{
    return Collector(options).run();
}
} // namespace qos
