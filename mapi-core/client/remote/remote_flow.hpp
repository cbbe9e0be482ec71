// SPDX-License-Identifier: MIT
// Remote flow: a flow that mapid runs; its results and packets are read from shared memory, without
// requests.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "client/backend.hpp"
#include "client/remote/connection.hpp"
#include "client/remote/flow_recipe.hpp"
#include "engine/node/composed_result.hpp"
#include "engine/node/published.hpp"
#include "engine/packet_path/since_last.hpp"
#include "ring/record_source.hpp"

namespace mapi::client
{
class RemoteFlow final : public Flow
{
public:
    // recipe: how the flow was created.
    RemoteFlow(std::shared_ptr<Connection> connection, FlowRecipe recipe,
               const ipc::FlowMade &made);

    // Repeats a call of another flow's recipe.
    void ask_again(const ipc::Request &call);

    int apply(const std::string &function, engine::Arguments arguments) override;
    engine::Target target(int fid, bool is_whole) override;
    // mapid identifies the flow by its number.
    engine::FlowBegun begun() override { return nullptr; }
    bool is_connected() override { return is_connected_; }
    void set_option(int option, uint64_t value) override;
    uint64_t option(int option) override;
    void connect(const std::vector<std::shared_ptr<Flow>> &flows) override;
    void reset(int fid) override;
    void remove(int fid) override;
    using Flow::close;
    void close(const std::vector<std::shared_ptr<Flow>> &flows) override;
    mapi_results_t *read_results(int fid) override;
    mapi_results_t *next_results(int fid) override;
    const mapipkt *next_packet(int fid) override;
    int next_packets(int fid, const mapipkt **packets, int most, int timeout_ms) override;
    int poll_descriptor(int fid) override;
    bool wait_for_end(int timeout_ms) override;
    void describe(mapi_flow_info_t *info) override;
    void describe(int fid, mapi_function_info_t *info) override;
    int next_function(int fid) override;
    std::shared_ptr<const FlowRecipe> recipe_if_gone() override;

private:
    static constexpr int kLookAgainMs = 200; // interval for checking whether mapid still runs

    struct Function {
        std::string name;
        engine::Published published;               // in mapid's memory
        std::vector<std::atomic<uint64_t>> result; // memory returned by mapi_read_results()
        mapi_results_t results = {};
        bool has_results_in_ring = false;
        bool has_packets_in_ring = false;
        bool is_composed = false;
        bool writer_waits = false;                     // the writer of its ring waits
        std::unique_ptr<engine::SinceLast> since_last; // null if results are totals
        std::unique_ptr<ring::RecordSource> records;   // null: the function has no ring
        // protected by the lock of `records`; null: not composed, or this libmapi does not support
        // it
        std::unique_ptr<engine::ComposedResult> composed;
        ipc::Descriptor event;
        std::atomic<bool> is_removed = false;
    };

    void turn_readers_away();
    void add(const std::string &name, const ipc::Applied &applied);
    void mark_removed(int fid);
    Function &function(int fid);
    Function &connected_function(int fid);
    ring::RecordSource &records(Function &function, bool are_packets) const;
    // False: no more data will arrive.
    bool is_alive() const { return !is_closed_ && connection_->is_alive(); }
    void read_whole(Function &function);
    mapi_results_t *read_composed(Function &function);
    mapi_results_t *show(Function &function);
    // Throws Error if the flow has not finished but its mapid has ended, was killed or is stopped.
    void need_mapid() const;
    void check_ended() const;
    void need_own_process() const;
    uint32_t status() const { return status_->load(); }
    mapi_flow_status reported_status();

    const std::shared_ptr<Connection> connection_;
    FlowRecipe recipe_; // protected by mutex_
    const int number_;
    const std::atomic<uint32_t> *const status_;
    std::mutex mutex_;               // for apply, connect, close
    std::deque<Function> functions_; // not extended once connected
    std::atomic<bool> is_connected_ = false;
    std::atomic<uint64_t> seen_alive_us_ = 0;
    std::atomic<bool> is_closed_ = false;
};
} // namespace mapi::client
