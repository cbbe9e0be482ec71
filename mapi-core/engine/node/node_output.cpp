// SPDX-License-Identifier: MIT
// Node output: memory for a function's result and records.
#include "engine/node/node_output.hpp"

namespace mapi::engine
{
NodeOutput::NodeOutput(const mapi_function &function)
    : traits_(function),
      words_(std::make_shared<std::vector<uint64_t>>(Published::words_for(function.result_bytes))),
      published_memory_(
          std::make_shared<ArenaBlock>(std::make_shared<HeapArena>(), Arena::Side::kEngine,
                                       Published::memory_bytes(function.result_bytes))),
      published_(published_memory_->memory(), function.result_bytes)
{
}

uint64_t *NodeOutput::allocate_result(const std::shared_ptr<Arena> &arena, uint32_t bytes)
{
    if (!is_in_place() || bytes == 0 || bytes > MAPI_RESULT_BYTES_MAX || has_result())
        return nullptr;
    const bool is_own = traits_.has_flag(MAPI_FUNCTION_RESULT_COPIED);
    words_->resize(is_own ? Published::words_for(bytes) : 0);
    published_memory_ =
        std::make_shared<ArenaBlock>(arena, Arena::Side::kEngine, Published::memory_bytes(bytes));
    published_ = Published(published_memory_->memory(), bytes);
    policy_.set_words(words_->size());
    in_place_ = is_own ? nullptr : published_.words();
    return is_own ? words_->data() : in_place_;
}

RingMemory *NodeOutput::make_ring(const std::shared_ptr<Arena> &arena,
                                  const mapi_ring_options &options)
{
    if (!ring_)
        ring_ = std::make_unique<RingMemory>(arena, options);
    return ring_.get();
}

bool NodeOutput::is_ring_read() const
{
    return !ring_ || traits_.composes_result() || traits_.has_flag(MAPI_FUNCTION_RESULTS_IN_RING) ||
           has_packets_in_ring();
}

void NodeOutput::settle()
{
    // Its arguments did not request a ring.
    if (traits_.has_flag(MAPI_FUNCTION_RESULTS_IN_RING) && !ring_)
        published_ = Published(published_memory_->memory(), 0);
    publish_if_any();
}
} // namespace mapi::engine
