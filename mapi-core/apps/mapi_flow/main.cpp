// SPDX-License-Identifier: MIT
// mapi-flow: a capture or an interface, and functions -> their results.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include <mapi/mapi.h>

#include "command/signals.h"
#include "command/standard_files.h"
#include "command/tell.hpp"
#include "flow.hpp"
#include "flow_words/read_calls.hpp"
#include "lines.hpp"
#include "options.hpp"

namespace mapi_flow
{
namespace
{
using Clock = std::chrono::steady_clock;
constexpr int kLookMs = 100;
constexpr auto kTimeToRead = std::chrono::milliseconds(200); // what came before Ctrl-C, or the end of the time
constexpr const char *kHead = "#flow.function\tname\tpackets\tpassed\tdropped\tresult";

// A capture, or an interface that is there anyway.
class Source
{
public:
    explicit Source(const Options &options) : is_device_(options.is_device), name_(options.source)
    {
        if (is_device_) {
            flow_ = mapi_create_flow(name_.c_str());
            if (flow_ < 0)
                throw_last_error();
            return;
        }
        made_ = mapi_create_offline_device(options.source.c_str(), options.is_erf ? MFF_DAG_ERF : MFF_PCAP);
        if (!made_)
            throw_last_error();
        name_ = made_;
    }
    ~Source()
    {
        if (made_)
            mapi_delete_offline_device(made_);
        else
            mapi_close_flow(flow_);
    }
    Source(const Source &) = delete;
    Source &operator=(const Source &) = delete;

    const std::string &name() const { return name_; }
    void start()
    {
        if (made_ && mapi_start_offline_device(made_) < 0)
            throw_last_error();
    }
    // Also when all other flows are closed.
    mapi_stat_t stats() const
    {
        mapi_stat_t stats = {};
        if (mapi_stats(name_.c_str(), &stats) < 1)
            throw_last_error();
        return stats;
    }

private:
    const bool is_device_;
    std::string name_;
    char *made_ = nullptr;
    int flow_ = 0; // never connected: an interface stays open until it is closed
};

void tell_loss(uint64_t count, const char *why)
{
    if (count > 0)
        command::tell("mapi-flow: {} {}\n", count, why);
}

// Whether all packets are in the results; tells what is not.
bool is_whole(const mapi_stat_t &stats)
{
    tell_loss(stats.drop_kernel, "packets came while the kernel's buffer had no room");
    tell_loss(stats.ps_ifdrop, "packets were lost by the interface, or at recording");
    tell_loss(stats.drop_buffer_full, "packets or results found no room in a buffer of a function");
    tell_loss(stats.drop_link_type, "times a function could not look into a packet, or a file not take it, for its link type; \"man 3 mapi\" lists those known");
    tell_loss(stats.drop_not_written, "packets or results were not written to a file");
    if (*stats.message)
        command::tell("mapi-flow: {}\n", stats.message);
    return stats.drop_kernel + stats.ps_ifdrop + stats.drop_buffer_full + stats.drop_not_written + stats.unread_bytes == 0 && !*stats.message;
}

using Flows = std::vector<std::unique_ptr<Flow>>;

void print(const Flows &flows, Lines &lines)
{
    lines.print(std::string(kHead) + "\n");
    for (const auto &flow : flows)
        flow->print();
    lines.flush();
}

// Until all have ended, the time is up, nobody reads the lines any more, or Ctrl-C.  Whether all have ended.
bool wait(const Flows &flows, const Options &options, Lines &lines)
{
    const auto begin = Clock::now();
    const auto passed_s = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    double next_s = options.interval_s;
    for (size_t i = 0; i < flows.size() && !command_was_interrupted() && !lines.has_failed();) {
        if (options.is_device && options.seconds > 0 && passed_s() >= options.seconds)
            return false;
        if (next_s > 0 && passed_s() >= next_s) {
            print(flows, lines);
            next_s += options.interval_s;
        }
        if (flows[i]->wait(kLookMs))
            ++i;
    }
    return !command_was_interrupted() && !lines.has_failed();
}

// The source's statistics as they are with the results; but of files as they are once these are whole: what they hold back is written, or
// lost, at their end.
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
    Lines lines;
    std::vector<std::vector<flow_words::Call>> calls;
    for (const std::string &text : options.flows) // before anything is opened
        calls.push_back(flow_words::read_calls(text));
    Source source(options);
    Flows flows;
    for (const auto &functions : calls)
        flows.push_back(std::make_unique<Flow>(source.name(), options, functions, unsigned(flows.size() + 1), lines));
    if (!command_was_interrupted())
        command_catch_interrupts();
    for (const auto &flow : flows)
        flow->connect();
    source.start();
    const bool have_ended = wait(flows, options, lines);
    for (const auto &flow : flows)
        have_ended ? flow->read_rest() : flow->stop();
    if (!have_ended && options.is_device)
        std::this_thread::sleep_for(kTimeToRead);
    print(flows, lines);
    const bool is_all_there = is_whole(close(flows, source));
    if (!lines.flush()) {
        command::tell("mapi-flow: standard output cannot be written\n");
        return kExitRefused;
    }
    if (command_was_interrupted() && !options.is_device)
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
    } catch (const flow_words::WordsError &error) {
        command::tell("mapi-flow: {}\n", error.what());
        return kExitUsage;
    } catch (const std::exception &error) {
        command::tell("mapi-flow: {}\n", error.what());
        return kExitRefused;
    }
}
