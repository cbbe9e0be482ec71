// SPDX-License-Identifier: MIT
// flow: calls -> a connected flow, the results of its functions, and results that arrive one at a
// time.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <mapi/expiredflowshash.h>
#include <mapi/mapi.h>
#include <nlohmann/json.hpp>

#include "captures/source.hpp"
#include "flow_expression/call.hpp"
#include "lines.hpp"
#include "options.hpp"

namespace mapi_flow
{
using captures_source::MapiError;
using captures_source::throw_last_error;

class Flow
{
public:
    // The device must outlive the flow.  number: from 1, as printed.  Throws MapiError.
    Flow(const std::string &device, const Options &options,
         const std::vector<flow_expression::Call> &calls, unsigned number, Lines &lines);
    ~Flow();
    Flow(const Flow &) = delete;
    Flow &operator=(const Flow &) = delete;

    // From here on, packets and results that arrive one at a time are printed as they arrive.
    void connect();
    // False on timeout.
    bool wait(int timeout_ms);
    // One line per function; for EXPIRED_FLOWS, whose reads return a part each, as many lines as
    // all waiting flows need.
    void print();
    // The same as JSON.
    nlohmann::ordered_json json();
    // How often any of the functions could not read the headers of a packet.
    uint64_t unread_headers() const;
    // How often any of the functions could not decide about a packet within its limit of steps.
    uint64_t given_up() const;
    // For a flow that has ended: returns when all remaining packets and results are printed.
    void read_rest();
    // For a flow that has not ended: what has arrived is still printed, until close().
    void stop() { is_stopping_ = true; }
    void close();

private:
    enum class Read { kNothing, kPackets, kResults };
    // For EXPIRED_FLOWS: ended flows that have not been read yet, and the number in the last read.
    struct WaitingFlows {
        int64_t flows = 0;
        uint32_t sent = 0;

        void count(const flows_stat &read);
    };

    void apply(const Options &options);
    std::string name_of(size_t function) const;
    // Null if the function has no result, or its results are printed as they arrive.
    const mapi_results_t *read(size_t function);
    std::string result_of(size_t function);
    nlohmann::ordered_json json_of(size_t function);
    std::string line_of(size_t function, const std::string &text, const char *name,
                        nlohmann::ordered_json json) const;
    void print(size_t function);
    void print_waiting_flows(size_t function);
    bool gives_one_by_one(size_t function) const;
    bool is_unwanted() const;
    void print_packets(size_t function);
    void print_results(size_t function);
    void join();

    const std::vector<flow_expression::Call> calls_;
    const unsigned number_;
    Lines &lines_;
    const bool is_json_;
    int flow_;
    std::vector<int> functions_;
    std::vector<std::string> names_; // the functions' own names, from libmapi
    std::vector<WaitingFlows> waiting_;
    std::vector<Read> read_; // for each function: what its reader thread reads
    std::vector<std::thread> readers_;
    std::atomic<bool> is_stopping_ = false;
    std::atomic<bool> is_reading_rest_ = false;
    std::atomic<bool> is_closing_ = false;
};

using Flows = std::vector<std::unique_ptr<Flow>>;
} // namespace mapi_flow
