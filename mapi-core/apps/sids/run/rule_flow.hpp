// SPDX-License-Identifier: MIT
// Rule flow: a rule -> a flow that finds its packets, their counts, and the packets themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <mapi/mapi.h>

#include "sids/language/rule.hpp"

namespace sids
{
struct Counts {
    uint64_t packets = 0;
    uint64_t bytes = 0;    // on the wire
    uint64_t last_ntp = 0; // when the last packet arrived, as of struct mapipkt
};

// What the functions of flows could not do; not in mapi_stat.
struct Losses {
    uint64_t time_jumps = 0;
    uint64_t unread_headers = 0;
    uint64_t given_up = 0; // packets that a rule could not decide about
    uint64_t connections_evicted = 0;
    uint64_t wrong_checksums = 0;   // of TCP, in packets that flow does not follow
    uint64_t addresses_evicted = 0; // whose rate a rule counted
};

struct FlowSettings {
    std::string device;
    bool gives_packets = false; // for alerts
    bool are_all_cooked = false;
    uint64_t buffer_bytes = 0; // of the packets that wait
};

class RuleFlow
{
public:
    // copy_path: where the packets are written; empty: nowhere.  Throws PlacedError if a filter or
    // an option of the rule is refused, otherwise MapiError.
    RuleFlow(const Rule &rule, const FlowSettings &settings, const std::string &copy_path);
    ~RuleFlow()
    {
        if (flow_ > 0)
            mapi_close_flow(flow_);
    }
    RuleFlow(const RuleFlow &) = delete;
    RuleFlow &operator=(const RuleFlow &) = delete;

    // Many flows in one step; nothing else may be done with them.
    static void close(const std::vector<RuleFlow *> &flows);

    int descriptor() const { return flow_; }
    // The counts change with the flow's packets.  Throws MapiError.
    void look(Counts &counts) const;
    // Passes on packets that have arrived, a few at a time, and returns their number.  They are
    // valid during the call.  Throws MapiError.
    using Take = std::function<void(const mapipkt &)>;
    int read_packets(const Take &take);
    // Whether counted packets have not been read.
    bool has_unread(const Counts &counts) const { return buffer_ > 0 && read_ < counts.packets; }
    // False on timeout.  Throws MapiError.
    bool wait_for_end(int timeout_ms) const;
    // Throws MapiError.
    void add_losses(Losses &losses) const;

private:
    void apply(const Rule &rule, const FlowSettings &settings, const std::string &copy_path);
    void apply_step(const Step &step);

    int flow_;                               // 0: closed
    std::vector<int> judges_;                // functions that decide which packets are the rule's
    std::vector<int> rates_;                 // of them, those that count addresses
    int connection_ = 0;                     // of them, the one that knows the connections; 0: none
    int packets_ = 0, bytes_ = 0, time_ = 0; // functions
    int buffer_ = 0;                         // 0: none
    uint64_t read_ = 0;                      // packets taken from the buffer
};
} // namespace sids
