// SPDX-License-Identifier: MIT
// Node setup: a function, its arguments and its client -> a created instance, with the memory and
// objects that it requested.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mapi/driver.h>
#include <mapi/function.h>

#include "engine/client.hpp"
#include "engine/flow_options.hpp"
#include "engine/memory/quota.hpp"
#include "engine/node/node_arguments.hpp"
#include "engine/node/node_output.hpp"
#include "engine/node/watcher.hpp"

namespace mapi::engine
{
// On the stack while create() runs.
class NodeSetup
{
public:
    // device: identifies it.
    NodeSetup(const mapi_function &function, const NodeArguments &arguments, NodeOutput &output,
              Client &client, const std::shared_ptr<DeviceTotals> &device,
              const FlowOptions &options);

    // Returns the instance.  Throws Error if the function refuses its arguments, makes a ring that
    // no reader can read, or the client has no memory left.
    void *create(const mapi_driver_info &device, const mapi_perf &meter);

    // After create().
    QuotaUse take_quota_use() { return std::move(quota_use_); }
    std::vector<std::shared_ptr<void>> take_common_objects() { return std::move(common_objects_); }
    Watchers take_watchers() { return std::move(watchers_); }
    bool takes_single_packets() const { return takes_single_packets_; }
    bool runs_in_order() const { return runs_in_order_; }

private:
    static NodeSetup &of(const mapi_function_setup *setup)
    {
        return *static_cast<NodeSetup *>(setup->engine);
    }
    static uint64_t *allocate_result(const mapi_function_setup *setup, uint32_t bytes);
    static void take_single_packets(const mapi_function_setup *setup);
    static void run_in_order(const mapi_function_setup *setup);
    static mapi_ring *make_ring(const mapi_function_setup *setup, const mapi_ring_options *options);
    static int reserve_memory(const mapi_function_setup *setup, uint64_t bytes);
    static void *common_object(const mapi_function_setup *setup, const mapi_common_object *kind);
    std::string missing_memory() const;
    void *run(const mapi_function_setup &setup);

    static const mapi_ring_calls kRingCalls;

    const mapi_function &function_;
    const NodeArguments &arguments_;
    NodeOutput &output_;
    Client &client_;
    const std::shared_ptr<DeviceTotals> &device_;
    const FlowOptions &options_;
    QuotaUse quota_use_;
    uint64_t wanted_bytes_ = 0; // of the refused memory request; 0: none was refused
    std::vector<std::shared_ptr<void>> common_objects_;
    Watchers watchers_;
    bool takes_single_packets_ = false;
    bool runs_in_order_ = false;
};
} // namespace mapi::engine
