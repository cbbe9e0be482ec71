// SPDX-License-Identifier: MIT
// flow: calls -> a connected flow, what its functions found, what they give one by one.
#pragma once

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <mapi/expiredflowshash.h>
#include <mapi/mapi.h>
#include <nlohmann/json.hpp>

#include "flow_words/call.hpp"
#include "lines.hpp"
#include "options.hpp"

namespace mapi_flow
{
// What libmapi had to say.
class MapiError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

[[noreturn]] void throw_last_error();

class Flow
{
public:
    // Of a device that outlives it.  number: from 1, as lines tell it.  Throws MapiError.
    Flow(const std::string &device, const Options &options, const std::vector<flow_words::Call> &calls, unsigned number, Lines &lines);
    ~Flow();
    Flow(const Flow &) = delete;
    Flow &operator=(const Flow &) = delete;

    // From here on packets, and results that come one by one, are printed as they come.
    void connect();
    // False when the time is up.
    bool wait(int timeout_ms);
    // A line for each function; for EXPIRED_FLOWS, of which a read gives some, as many as it takes to tell all that wait.
    void print();
    // The same as data.
    nlohmann::ordered_json json();
    // Times that one of the functions could not read the headers of a packet.
    uint64_t unread_headers() const;
    // Of a flow that has ended: returns once all that is read one by one is printed.
    void read_rest();
    // Of one that has not: what came is still printed, until it is closed.
    void stop() { is_stopping_ = true; }
    void close();

private:
    enum class Read { kNothing, kPackets, kResults };
    // Of EXPIRED_FLOWS: flows that have ended and were not read yet, and those of the last read.
    struct WaitingFlows {
        int64_t flows = 0;
        uint32_t sent = 0;

        void count(const flows_stat &read);
    };

    void apply(const Options &options);
    std::string name_of(size_t function) const;
    // Null: it has none, or it is printed as it comes.
    const mapi_results_t *read(size_t function);
    std::string result_of(size_t function);
    nlohmann::ordered_json json_of(size_t function);
    std::string line_of(size_t function, const std::string &text, const char *name, nlohmann::ordered_json json) const;
    void print(size_t function);
    void print_waiting_flows(size_t function);
    bool gives_one_by_one(size_t function) const;
    bool is_unwanted() const;
    void print_packets(size_t function);
    void print_results(size_t function);
    void join();

    const std::vector<flow_words::Call> calls_;
    const unsigned number_;
    Lines &lines_;
    const bool is_json_;
    int flow_;
    std::vector<int> functions_;
    std::vector<std::string> names_; // the functions' own, as libmapi has them
    std::vector<WaitingFlows> waiting_;
    std::vector<Read> read_; // by a thread, of each function
    std::vector<std::thread> readers_;
    std::atomic<bool> is_stopping_ = false;
    std::atomic<bool> is_reading_rest_ = false;
    std::atomic<bool> is_closing_ = false;
};

using Flows = std::vector<std::unique_ptr<Flow>>;
} // namespace mapi_flow
