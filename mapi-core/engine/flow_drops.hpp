// SPDX-License-Identifier: MIT
// Flow drops: what the functions of one client's flows of one device dropped, closed flows included.
#pragma once

#include <mutex>
#include <set>

#include <mapi/function.h>

namespace mapi::engine
{
class Chain;

// What is summed up here; the others of the struct are of one function.
inline void add_up(mapi_function_drops &sum, const mapi_function_drops &more)
{
    sum.buffer_full += more.buffer_full;
    sum.link_type += more.link_type;
    sum.not_written += more.not_written;
}

class FlowDrops
{
public:
    // Any thread.  remove(): when it goes.
    void add(const Chain &chain);
    void remove(const Chain &chain);
    // buffer_full, link_type and not_written; they only grow.  The thread that applies functions to the client's flows.
    mapi_function_drops sum();

private:
    std::mutex mutex_; // all below
    std::set<const Chain *> chains_;
    mapi_function_drops gone_ = {};
};
} // namespace mapi::engine
