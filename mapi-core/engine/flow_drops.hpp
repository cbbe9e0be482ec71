// SPDX-License-Identifier: MIT
// Flow drops: drops of the functions of one client's flows on one device, including closed flows.
#pragma once

#include <mutex>
#include <set>

#include <mapi/function.h>

namespace mapi::engine
{
class Chain;

// Only the members that are summed here; the others belong to a single function.
inline void add_up(mapi_function_drops &sum, const mapi_function_drops &more)
{
    sum.buffer_full += more.buffer_full;
    sum.link_type += more.link_type;
    sum.not_written += more.not_written;
}

class FlowDrops
{
public:
    // Any thread.  remove(): when the chain is destroyed.
    void add(const Chain &chain);
    void remove(const Chain &chain);
    // buffer_full, link_type and not_written; they only grow.  Called by the thread that applies
    // functions to the client's flows.
    mapi_function_drops sum();

private:
    std::mutex mutex_; // all below
    std::set<const Chain *> chains_;
    mapi_function_drops gone_ = {};
};
} // namespace mapi::engine
