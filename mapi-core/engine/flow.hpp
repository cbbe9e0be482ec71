// SPDX-License-Identifier: MIT
// Flow: one client's stream of packets: its device, its chain, its results.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <mapi/results.h>

#include "engine/config/arguments.hpp"
#include "engine/packet_path/chain.hpp"
#include "engine/flow_options.hpp"

namespace mapi::engine
{
class Device;

// Where a client in another process finds what a function gives.
struct FunctionMemory {
    const void *result = nullptr; // as Published
    size_t result_bytes = 0;
    RingMemory *ring = nullptr;
    bool has_results_in_ring = false;
    bool has_packets_in_ring = false;
    bool is_composed = false; // its result is made of result and ring, by its table
    bool is_since_last = false; // readers are told what it has grown by since they read it before
};

// Any thread.  Everything throws Error.
class Flow : public std::enable_shared_from_this<Flow>
{
public:
    explicit Flow(std::shared_ptr<Device> device, std::shared_ptr<Client> client = std::make_shared<Client>());

    const std::shared_ptr<Device> &device() const { return device_; }
    int apply(const mapi_function &function, Arguments arguments);
    // One of its functions, for another one's argument; is_whole: that takes results of any size.
    Target target(int fid, bool is_whole = false);
    // Whether it has begun, for another flow's function.
    FlowBegun begun() const { return chain_->begun(); }
    bool is_connected() const;
    // For functions that are applied from then on; of a flow that is not connected.
    void set_option(int option, uint64_t value);
    uint64_t option(int option);
    void connect();
    // Its result and its packets are as if the flow were connected now; packets that the driver reads after the return are counted anew.
    void reset(int fid);
    // It gets no packets any more, and its number stays its own.
    void remove(int fid);
    void close();
    // Many of them, each device's at once.
    static void close(const std::vector<std::shared_ptr<Flow>> &flows);

    // No system call; no lock but that of readers of the same function where it composes its result.  Null: results come one after another.
    mapi_results_t *read_results(int fid);
    // Those of a connected flow, removed or not, whose result is its share of a word from now on; null: there is more to it.
    Applied *share_of_word(int fid) const;
    // Null: the function gives no packets, or has none left.
    ring::RecordSource *packets(int fid) const;
    bool is_removed(int fid) const { return chain_->functions()[size_t(fid) - 1]->is_removed; }
    size_t function_count() const { return chain_->functions().size(); }
    // Waits for the next of these.
    mapi_results_t *next_results(int fid);
    // Null: the end, or nothing there and the buffer does not wait.
    const mapipkt *next_packet(int fid);
    // All that are there, at most `most`; waits for the first.
    int next_packets(int fid, const mapipkt **packets, int most, int timeout_ms);
    // Readable when there is something to read, or the end, after a read that found nothing.
    int poll_descriptor(int fid);
    // False when the time is up.
    bool wait_for_end(int timeout_ms);

    // If its reader has taken all packets and the device waits for readers: waits until there are more, or the flow has finished.
    void wait_whether_over(int timeout_ms);

    FunctionMemory memory(int fid);
    // What goes with the last of its functions, which may be in use for a while after it is closed.
    void keep(std::shared_ptr<const void> thing) { chain_->keep(std::move(thing)); }
    void set_on_end(std::function<void()> on_end) { chain_->set_on_end(std::move(on_end)); }
    // True once all is done that the end of the packets began.
    bool settle() { return chain_->settle(); }
    bool has_ended() const { return chain_->has_ended(); }
    const std::atomic<uint32_t> *shown_status() const { return chain_->shown_status(); }

    void describe(mapi_flow_info_t *info);
    void describe(int fid, mapi_function_info_t *info);
    // 0: there is none after it.
    int next_function(int fid);
    struct FunctionCounts {
        const char *name;
        uint64_t packets;
        uint64_t passed;
    };
    std::vector<FunctionCounts> counts();
    // Memory that its functions may need at most, as counted for the client.
    uint64_t function_bytes();
    // Of functions that were removed, when they were.
    std::vector<FunctionCounts> removed_counts();

private:
    void check_applicable(const mapi_function &function) const;
    static void disconnect(const std::vector<std::shared_ptr<Flow>> &flows);
    FunctionCounts counts_of(const Applied &applied) const;
    Applied &function(int fid);
    Applied &connected_function(int fid);
    static void copy_result(Applied &applied, uint64_t *copy);
    static ring::RecordSource &records(Applied &applied, bool are_packets);

    const std::shared_ptr<Device> device_;
    const std::shared_ptr<Client> client_;
    FlowOptions options_;
    const std::shared_ptr<Chain> chain_; // the device holds it too while the flow is connected
    std::vector<FunctionCounts> removed_;
    std::mutex mutex_; // options, apply, connect, close
};
} // namespace mapi::engine
