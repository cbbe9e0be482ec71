// SPDX-License-Identifier: MIT
// Node setup: the requests of create(), and its refusal.
#include "engine/node/node_setup.hpp"

#include <algorithm>
#include <new>

#include "engine/error.hpp"

namespace mapi::engine
{
namespace
{
// Charged to every function: the node, and its part of plans.
constexpr uint64_t kFunctionBytes = 2048;
// In addition to one with a text: its part of node groups, a filter's code.
constexpr uint64_t kTextBytes = 14336;
} // namespace

const mapi_ring_calls NodeSetup::kRingCalls = ring_calls(make_ring);

uint64_t *NodeSetup::allocate_result(const mapi_function_setup *setup, uint32_t bytes)
{
    try {
        return of(setup).output_.allocate_result(of(setup).client_.arena(), bytes);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

mapi_ring *NodeSetup::make_ring(const mapi_function_setup *setup, const mapi_ring_options *options)
{
    NodeSetup &self = of(setup);
    mapi_ring_options wanted = *options;
    if (self.options_.buffer_bytes != 0) // spare_bytes must leave most of the ring to other records
        wanted.bytes = std::max(self.options_.buffer_bytes, uint64_t(options->spare_bytes) * 4);
    try {
        return as_handle(self.output_.make_ring(self.client_.arena(), wanted));
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

int NodeSetup::reserve_memory(const mapi_function_setup *setup, uint64_t bytes)
{
    if (of(setup).quota_use_.add(bytes))
        return 0;
    of(setup).wanted_bytes_ = bytes;
    return MAPI_LIMIT_REACHED;
}

void *NodeSetup::common_object(const mapi_function_setup *setup, const mapi_common_object *kind)
{
    NodeSetup &self = of(setup);
    try {
        const bool is_watching = Watcher::is_watching(*kind);
        auto object = is_watching ? self.client_.watching_object(*kind, self.device_)
                                  : self.client_.common_object(*kind);
        if (!object)
            self.wanted_bytes_ = kind->bytes;
        else if (is_watching)
            self.watchers_.push_back({kind, object});
        else
            self.common_objects_.push_back(object);
        return object.get();
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void NodeSetup::take_single_packets(const mapi_function_setup *setup)
{
    of(setup).takes_single_packets_ = true;
}

void NodeSetup::run_in_order(const mapi_function_setup *setup)
{
    of(setup).runs_in_order_ = true;
}

std::string NodeSetup::missing_memory() const
{
    const Quota &quota = client_.quota()->short_of(wanted_bytes_);
    const auto mib = [](uint64_t bytes) {
        return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
    };
    return "could need " + mib(wanted_bytes_) + ", but " + quota.owner() + " already uses up to " +
           mib(quota.used()) + " of its " + mib(quota.most()) + " (" + quota.name() +
           "); close flows that are not needed";
}

NodeSetup::NodeSetup(const mapi_function &function, const NodeArguments &arguments,
                     NodeOutput &output, Client &client,
                     const std::shared_ptr<DeviceTotals> &device, const FlowOptions &options)
    : function_(function), arguments_(arguments), output_(output), client_(client), device_(device),
      options_(options), quota_use_(client.quota())
{
}

void *NodeSetup::run(const mapi_function_setup &setup)
{
    void *instance = function_.create ? nullptr : setup.result;
    int number = reserve_memory(&setup, kFunctionBytes + (arguments_.has_text() ? kTextBytes : 0) +
                                            arguments_.most_bytes());
    if (number == 0 && function_.create)
        number = function_.create(&setup, &instance);
    if (number != 0 && wanted_bytes_ != 0)
        throw Error(MAPI_LIMIT_REACHED, std::string(function_.name) + ": " + missing_memory());
    if (number != 0)
        throw Error(number, std::string(function_.name) + ": " +
                                (*setup.error ? setup.error : "invalid arguments"));
    return instance;
}

void *NodeSetup::create(const mapi_driver_info &device, const mapi_perf &meter)
{
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    const std::vector<mapi_argument> values = arguments_.values();
    mapi_function_setup setup = {};
    setup.struct_size = sizeof(setup);
    setup.argument_count = uint32_t(values.size());
    setup.arguments = values.data();
    setup.result = output_.result();
    setup.error = text;
    setup.error_bytes = sizeof(text);
    setup.device_flags = device.device_flags;
    setup.snaplen = device.snaplen;
    setup.interface_index = device.interface_index;
    setup.link_type = device.link_type;
    setup.snap_bytes = options_.snap_bytes;
    setup.config = arguments_.config_lines();
    setup.meter = &meter;
    setup.engine = this;
    setup.allocate_result = allocate_result;
    setup.ring = &kRingCalls;
    setup.take_single_packets = take_single_packets;
    setup.reserve_memory = reserve_memory;
    setup.common_object = common_object;
    setup.run_in_order = run_in_order;
    void *const instance = run(setup);
    if (!output_.is_ring_read()) {
        if (instance && function_.destroy)
            function_.destroy(instance);
        throw Error(MAPI_INTERNAL_ERROR,
                    std::string(function_.name) +
                        ": makes a ring, but its table has neither MAPI_FUNCTION_RESULTS_IN_RING "
                        "nor MAPI_FUNCTION_PACKETS_IN_RING nor a compose() of its result");
    }
    arguments_.keep_files();
    output_.settle();
    return instance;
}
} // namespace mapi::engine
