// SPDX-License-Identifier: MIT
// Node output: what a function makes for readers: words that are published, or a ring of records.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <mapi/function.h>

#include "engine/memory/arena.hpp"
#include "engine/memory/ring_memory.hpp"
#include "engine/node/function_traits.hpp"
#include "engine/node/publish_policy.hpp"
#include "engine/node/published.hpp"

namespace mapi::engine
{
class NodeOutput
{
public:
    explicit NodeOutput(const mapi_function &function);
    NodeOutput(const NodeOutput &) = delete;
    NodeOutput &operator=(const NodeOutput &) = delete;

    // During create().
    void *result() { return words_->data(); }
    // Null if the function may not call it.  Throws std::bad_alloc.
    uint64_t *allocate_result(const std::shared_ptr<Arena> &arena, uint32_t bytes);
    // Throws std::bad_alloc.
    RingMemory *make_ring(const std::shared_ptr<Arena> &arena, const mapi_ring_options &options);
    // False if no call could read the records of its ring.
    bool is_ring_read() const;
    // After create().
    void settle();

    size_t bytes() const { return published_.bytes(); }
    bool has_result() const { return bytes() > 0; }
    // One value, up to date after each burst.
    bool has_published_result() const
    {
        return has_result() && !is_in_place() && !has_results_in_ring();
    }
    bool is_in_place() const { return traits_.has_flag(MAPI_FUNCTION_RESULT_IN_PLACE); }
    // In place, and copied for readers.
    bool is_copied() const { return has_result() && traits_.has_flag(MAPI_FUNCTION_RESULT_COPIED); }
    bool is_composed() const { return traits_.composes_result() && ring_; }
    bool has_results_in_ring() const
    {
        return traits_.has_flag(MAPI_FUNCTION_RESULTS_IN_RING) && ring_;
    }
    bool has_packets_in_ring() const { return traits_.has_flag(MAPI_FUNCTION_PACKETS_IN_RING); }

    // As the function writes it: device's thread, except for a result in place.
    const uint64_t *words() const { return in_place_ ? in_place_ : words_->data(); }
    uint64_t first_word() const { return words_->empty() ? 0 : (*words_)[0]; }
    // The memory of these words, which may outlive the node.
    std::shared_ptr<const void> memory() const
    {
        return in_place_ ? std::shared_ptr<const void>(published_memory_) : words_;
    }
    void publish() { published_.publish(words_->data()); }
    void publish_if_any()
    {
        if (has_published_result() || is_copied())
            publish();
    }
    // For changes without packets, of a result that is copied for readers.
    void note_change() { policy_.note_change(); }
    // packets: the count so far.
    void publish_when_due(uint64_t packets)
    {
        if (policy_.is_due(packets))
            publish();
    }
    // As readers see it.  Any thread.
    const Published &published() const { return published_; }

    // Null if the function has not made one.
    RingMemory *ring() const { return ring_.get(); }
    // Whether the device's thread waits while the ring is full.
    bool waits_for_reader() const { return ring_ && ring_->writer_waits(); }

private:
    const FunctionTraits traits_;
    const std::shared_ptr<std::vector<uint64_t>>
        words_; // written by the function, published by publish()
    std::shared_ptr<ArenaBlock> published_memory_;
    Published published_;
    uint64_t *in_place_ = nullptr; // in published_; null: the function writes to words_
    PublishPolicy policy_;         // of a result that is copied for readers
    std::unique_ptr<RingMemory> ring_;
};
} // namespace mapi::engine
