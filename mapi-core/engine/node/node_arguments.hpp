// SPDX-License-Identifier: MIT
// Node arguments: a client's arguments -> the values that a function gets, and the results and
// flows that these refer to.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mapi/function.h>

#include "engine/config/arguments.hpp"

namespace mapi::engine
{
class NodeArguments
{
public:
    explicit NodeArguments(Arguments arguments);
    NodeArguments(const NodeArguments &) = delete;
    NodeArguments &operator=(const NodeArguments &) = delete;

    // A result that the function refers to, in the order of the arguments; the plan keeps the views
    // up to date.
    struct Reference {
        Target target;
        mapi_reference view = {};
        std::shared_ptr<const void> kept =
            nullptr; // keeps view.words alive, but not their function, which may use much memory
    };
    std::vector<Reference> &references() { return references_; }
    bool refers_to(const Chain *chain, size_t position) const;
    // Whether a flow of the arguments has begun: the flow's word, and the copy that the function
    // reads.
    struct AwaitedFlow {
        const std::atomic<uint64_t> *begun;
        uint64_t *seen;
    };
    std::vector<AwaitedFlow> awaited_flows();

    // For create(): what they point to lives as long as this object.
    std::vector<mapi_argument> values() const;
    // Lines of mapi.conf, or null.
    const char *config_lines() const;
    // The memory that the engine and compiled code need for them at most.
    uint64_t most_bytes() const;
    bool has_text() const;
    const Arguments &given() const { return arguments_; }
    // Files that were created for the arguments remain.
    void keep_files() const;
    // "PATH: " of each file that the function writes.
    std::string written_paths() const;
    bool operator==(const NodeArguments &other) const { return arguments_ == other.arguments_; }
    // The same for equal arguments.
    size_t hash() const { return hash_; }

private:
    const Arguments arguments_;
    const size_t hash_;
    std::vector<Reference> references_;
    const std::vector<const mapi_reference *>
        views_;                        // of the references, as the function gets them
    std::vector<uint64_t> flows_seen_; // which of the arguments' flows have begun, in their order
    const std::vector<const uint64_t *> flow_words_; // pointers to these, as the function gets them
};
} // namespace mapi::engine
