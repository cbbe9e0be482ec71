// SPDX-License-Identifier: MIT
// storing: packets of a run -> its store, also one that is away for a while.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "qos/store/store.hpp"

namespace qos
{
class Storing
{
public:
    using Clock = std::chrono::steady_clock;
    using Open = std::function<std::unique_ptr<Store>()>;
    using Tell = std::function<void(const std::string &)>;

    // Opens the store now: throws StoreAway or StoreError.  `tell` gets what the user should know.
    Storing(Open open, Run run, Tell tell);

    // Counts and times of the run, for the next write.
    Run &run() { return run_; }

    // Whether the last attempt to write failed; then no more packets should be added.
    bool is_away() const { return is_away_; }
    void add(const std::vector<SelectedPacket> &packets);
    // Writes what was added, or only the run; false if the store is away.  An attempt to reach a
    // store that is away is made at most each `retry`.  Throws StoreError.
    bool write();
    uint64_t waiting_packets() const { return batch_.packets.size(); }
    std::chrono::milliseconds away_for() const;
    const std::string &why_away() const { return why_away_; }

private:
    int64_t number_of(const FlowKey &key);
    void note_away(const std::string &why);

    const Open open_;
    const Tell tell_;
    std::unique_ptr<Store> store_;
    Run run_;
    Batch batch_;
    std::unordered_map<FlowKey, int64_t, FlowKeyHash> flows_;
    int64_t next_flow_ = 0;
    bool is_away_ = false;
    std::string why_away_;
    Clock::time_point away_since_, next_attempt_;
    std::chrono::milliseconds pause_{};
};
} // namespace qos
