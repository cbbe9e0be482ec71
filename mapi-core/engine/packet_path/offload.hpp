// SPDX-License-Identifier: MIT
// Offload: the nodes of a plan that the driver runs before packets are read, and their counts.
#pragma once

#include <cstdint>
#include <vector>

#include <mapi/driver.h>

#include "engine/node/node.hpp"

namespace mapi::engine
{
inline constexpr char kFollowsEngine[] = "a function before it runs in the engine";

// A device whose driver runs functions.
struct OffloadTarget {
    const mapi_driver_offload *driver;
    void *source;
    uint16_t link_type;
};

// Belongs to one plan, which keeps the nodes.
class OffloadProgram
{
public:
    explicit OffloadProgram(const OffloadTarget &target) : target_(target) {}
    ~OffloadProgram();
    OffloadProgram(const OffloadProgram &) = delete;
    OffloadProgram &operator=(const OffloadProgram &) = delete;

    // Before prepare(), in an order in which sources come first.  source: an index that add()
    // returned, or MAPI_OFFLOAD_ALL.  step: what the node does.
    uint32_t add(Node &node, uint32_t source, const mapi_offload_step &step);
    // A function of the engine needs so many bytes of the packets that this node passes.
    void want_packets(uint32_t node, uint32_t bytes);
    void prepare();

    bool is_taken(uint32_t node) const { return entries_[node].is_taken != 0; }
    // Why the driver does not run it.
    const char *reason(uint32_t node) const;
    const char *place() const { return target_.driver->place; }

    // Device's thread.
    void activate() { target_.driver->activate(target_.source, program_); }
    bool has_switched() const { return target_.driver->has_switched(target_.source) != 0; }
    // Adds to the nodes what they have passed since the last call, and returns all packets since
    // then.
    mapi_offload_count collect();

private:
    static void collect(Node &node, const mapi_offload_count &now,
                        const mapi_offload_count &before);

    const OffloadTarget target_;
    std::vector<mapi_offload_node> entries_;
    std::vector<Node *> nodes_;               // of each entry
    std::vector<mapi_offload_count> counts_;  // of each entry that is taken, then of all packets
    std::vector<mapi_offload_count> counted_; // the same, when they were last collected
    uint32_t all_bytes_ = 0;
    void *program_ = nullptr;
};
} // namespace mapi::engine
