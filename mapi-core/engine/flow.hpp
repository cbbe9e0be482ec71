// SPDX-License-Identifier: MIT
// Flow: one client's stream of packets: its device, its chain, its results.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <mapi/results.h>

#include "engine/config/arguments.hpp"
#include "engine/flow_options.hpp"
#include "engine/packet_path/chain.hpp"

namespace mapi::engine
{
class Device;

// Location of a function's output, for a client in another process.
struct FunctionMemory {
    const void *result = nullptr; // memory of a Published
    size_t result_bytes = 0;
    RingMemory *ring = nullptr;
    bool has_results_in_ring = false;
    bool has_packets_in_ring = false;
    bool is_composed = false;   // the function's table composes its result from result and ring
    bool is_since_last = false; // readers get the increase since their last read
};

// Any thread.  All functions throw Error.
class Flow : public std::enable_shared_from_this<Flow>
{
public:
    explicit Flow(std::shared_ptr<Device> device,
                  std::shared_ptr<Client> client = std::make_shared<Client>());

    const std::shared_ptr<Device> &device() const { return device_; }
    int apply(const mapi_function &function, Arguments arguments);
    // One of its functions, as an argument of another one; is_whole: that accepts results of any
    // size.
    Target target(int fid, bool is_whole = false);
    // Whether the flow has begun, for another flow's function.
    FlowBegun begun() const { return chain_->begun(); }
    bool is_connected() const;
    // For functions that are applied afterwards; only before the flow is connected.
    void set_option(int option, uint64_t value);
    uint64_t option(int option);
    void connect() { connect({this}); }
    // Connects many flows of one device in one step.  After an error none is connected.
    static void connect(const std::vector<Flow *> &flows);
    // Its result and packet counts are as if the flow were connected now; they include packets that
    // the driver reads afterwards.
    void reset(int fid);
    // The function gets no more packets; its number is not reused.
    void remove(int fid);
    void close();
    // Closes many flows, all those of a device together.
    static void close(const std::vector<std::shared_ptr<Flow>> &flows);

    // No system call; no lock, except that of readers of a composed result.  Null if the function's
    // results come one by one.
    mapi_results_t *read_results(int fid);
    // The function, of a connected flow and possibly removed, if its result is from now on just its
    // share of a word; else null.
    Applied *share_of_word(int fid) const;
    // Null if the function gives no packets, or has none left.
    ring::RecordSource *packets(int fid) const;
    bool is_removed(int fid) const { return chain_->functions()[size_t(fid) - 1]->is_removed; }
    size_t function_count() const { return chain_->functions().size(); }
    // Waits for the next result.
    mapi_results_t *next_results(int fid);
    // Null at the end, or if the buffer is empty and its reader does not wait.
    const mapipkt *next_packet(int fid);
    // All available packets, at most `most`; waits for the first.
    int next_packets(int fid, const mapipkt **packets, int most, int timeout_ms);
    // After a read that found nothing: becomes readable when there is something to read, or at the
    // end.
    int poll_descriptor(int fid);
    // False on timeout.
    bool wait_for_end(int timeout_ms);

    // If its reader has taken all packets and the device waits for readers: waits for more packets
    // or until the flow has finished.
    void wait_whether_over(int timeout_ms);

    FunctionMemory memory(int fid);
    // Keeps an object alive as long as its functions, which may be in use for a while after the
    // flow is closed.
    void keep(std::shared_ptr<const void> thing) { chain_->keep(std::move(thing)); }
    void set_on_end(std::function<void()> on_end) { chain_->set_on_end(std::move(on_end)); }
    // True once everything that the end of the packets started is done.
    bool settle() { return chain_->settle(); }
    bool has_ended() const { return chain_->has_ended(); }
    const std::atomic<uint32_t> *shown_status() const { return chain_->shown_status(); }

    void describe(mapi_flow_info_t *info);
    void describe(int fid, mapi_function_info_t *info);
    // 0 if there is none after it.
    int next_function(int fid);
    struct FunctionCounts {
        const char *name;
        uint64_t packets;
        uint64_t passed;
    };
    std::vector<FunctionCounts> counts();
    // Memory that its functions may need at most, as charged to the client.
    uint64_t function_bytes();
    // Counts of removed functions at the time of their removal.
    std::vector<FunctionCounts> removed_counts();

private:
    static std::vector<std::unique_lock<std::mutex>> lock(std::vector<Flow *> flows);
    void join_step(const std::vector<std::shared_ptr<Chain>> &chains, uint64_t step);
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
