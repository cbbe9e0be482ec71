// SPDX-License-Identifier: MIT
// Flow: one client's stream of packets: its device, its chain, its results.
#pragma once

#include <memory>
#include <mutex>

#include <mapi/results.h>

#include "engine/arguments.hpp"
#include "engine/chain.hpp"

namespace mapi::engine
{
class Device;

// Any thread.  Everything throws Error.
class Flow : public std::enable_shared_from_this<Flow>
{
public:
    explicit Flow(std::shared_ptr<Device> device);

    int apply(const mapi_function &function, Arguments arguments);
    // One of its functions, for another one's argument; is_whole: that takes results of any size.
    Target target(int fid, bool is_whole = false);
    void connect();
    void close();

    // No lock, no system call.  Null: results come one after another.
    mapi_results_t *read_results(int fid);
    // Waits for the next of these.
    mapi_results_t *next_results(int fid);
    // Null: the end, or nothing there and the buffer does not wait.
    const mapipkt *next_packet(int fid);
    // False when the time is up.
    bool wait_for_end(int timeout_ms);

    void describe(mapi_flow_info_t *info);
    void describe(int fid, mapi_function_info_t *info);

private:
    Applied &connected_function(int fid);

    const std::shared_ptr<Device> device_;
    const std::shared_ptr<Chain> chain_; // the device holds it too while the flow is connected
    std::mutex mutex_;                   // apply, connect, close
};
} // namespace mapi::engine
