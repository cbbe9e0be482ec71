// SPDX-License-Identifier: MIT
// Remote results: results and packets of a flow that mapid runs, out of shared memory.
#include <algorithm>
#include <cstring>

#include "client/remote/remote_flow.hpp"
#include "engine/error.hpp"
#include "engine/wall_clock.hpp"

namespace mapi::client
{
namespace
{
constexpr std::atomic<uint64_t> kNoBase = 0; // mapid already returns the flow's own share

void store(std::vector<std::atomic<uint64_t>> &result, const std::vector<uint64_t> &copy)
{
    for (size_t i = 0; i < result.size(); ++i)
        result[i].store(copy[i], std::memory_order_relaxed);
}
} // namespace

RemoteFlow::Function &RemoteFlow::function(int fid)
{
    if (fid < 1 || size_t(fid) > functions_.size())
        throw Error(MAPI_INVALID_FID_FUNCID, "the flow has no function " + std::to_string(fid));
    Function &function = functions_[size_t(fid) - 1];
    if (function.is_removed)
        throw Error(MAPI_INVALID_FID_FUNCID,
                    "function " + std::to_string(fid) + " of the flow was removed");
    return function;
}

RemoteFlow::Function &RemoteFlow::connected_function(int fid)
{
    if (!is_connected_.load(std::memory_order_acquire))
        throw Error(MAPI_FLOW_NOT_CONNECTED, "the flow is not connected");
    return function(fid);
}

mapi_results_t *RemoteFlow::read_results(int fid)
{
    Function &function = connected_function(fid);
    if (function.result.empty())
        throw Error(MAPI_SHM_ERR, function.name + " has no result");
    if (function.has_results_in_ring)
        return nullptr;
    if (function.is_composed)
        return read_composed(function);
    if (function.result.size() == 1) [[likely]] {
        const auto word = [&] { return function.published.first_word(); };
        function.result[0].store(function.since_last ? function.since_last->take(word) : word(),
                                 std::memory_order_relaxed);
        if (!function.since_last)
            open_shortcut(fid,
                          WordPlace{function.published.first(), &kNoBase, function.result.data(),
                                    &function.results, status_},
                          [&] { return function.is_removed.load(); });
    } else {
        std::vector<uint64_t> copy(function.result.size());
        if (!function.published.try_read(copy.data()))
            return nullptr;
        store(function.result, copy);
    }
    return show(function);
}

// The time is only returned for a value that is up to date.  A mapid that ends sets the status; one
// that is killed or stopped cannot, so its pulse is checked from time to time.
mapi_results_t *RemoteFlow::show(Function &function)
{
    const uint64_t now_us = engine::now_us();
    if (status_->load(std::memory_order_acquire) != FLOW_ACTIVE) [[unlikely]] {
        check_ended();
    } else if (now_us - seen_alive_us_.load(std::memory_order_relaxed) > kLookAgainMs * 1000ull ||
               are_shortcuts_closed()) {
        need_mapid();
        seen_alive_us_.store(now_us, std::memory_order_relaxed);
    }
    std::atomic_ref(function.results.ts).store(now_us, std::memory_order_relaxed);
    return &function.results;
}

// A finished flow stays readable, whatever happens to mapid.
void RemoteFlow::check_ended() const
{
    if (!is_closed_ && status() == FLOW_CLOSED)
        throw Error(MCOM_SOCKET_ERROR,
                    "mapid at " + connection_->path() + " has ended, and the flow with it");
}

void RemoteFlow::need_mapid() const
{
    check_ended();
    if (status() != FLOW_FINISHED)
        connection_->need_mapid();
}

// A child of fork() would consume its parent's data, and wait for locks of threads that it does not
// have.
void RemoteFlow::need_own_process() const
{
    if (are_shortcuts_closed()) [[unlikely]]
        connection_->need_own_process();
}

void RemoteFlow::read_whole(Function &function)
{
    std::vector<uint64_t> copy(function.result.size());
    for (unsigned tries = 1; !function.published.try_read(copy.data()) && !is_closed_; ++tries) {
        need_mapid();
        engine::Published::rest_after(tries);
    }
    if (is_closed_) // its memory may belong to another flow
        throw Error(MAPI_INVALID_FLOW, "the flow was closed during the call");
    store(function.result, copy);
}

// A read consumes the records, so the check that mapid runs comes first.
mapi_results_t *RemoteFlow::read_composed(Function &function)
{
    if (!function.composed)
        throw Error(MCOM_UNKNOWN_ERROR,
                    function.name +
                        ": cannot read its result: libmapi and mapid have different versions");
    need_own_process();
    const auto lock = function.records->lock();
    if (is_closed_)
        throw Error(MAPI_INVALID_FLOW, "the flow was closed during the call");
    mapi_results_t *const results = show(function);
    std::vector<uint64_t> copy(function.result.size());
    function.composed->read(function.published.words(), function.published.bytes(),
                            *function.records, copy.data());
    store(function.result, copy);
    return results;
}

// The memory may belong to another flow once this one is closed; callers check that under the
// source's lock.
ring::RecordSource &RemoteFlow::records(Function &function, bool are_packets) const
{
    if (!(are_packets ? function.has_packets_in_ring : function.has_results_in_ring))
        throw Error(MAPI_INVALID_FID_FUNCID,
                    function.name + (are_packets ? " keeps no packets (use TO_BUFFER)"
                                                 : " does not return results one by one"));
    if (!function.records)
        throw Error(MAPI_NO_MORE_RESULTS, function.name + " has no more results");
    need_own_process();
    return *function.records;
}

mapi_results_t *RemoteFlow::next_results(int fid)
{
    Function &function = connected_function(fid);
    if (!function.has_results_in_ring && !function.result.empty()) {
        read_whole(function);
        return show(function);
    }
    ring::RecordSource &source = records(function, false);
    const auto lock = source.lock();
    const ring::Record record =
        is_closed_ ? ring::Record{} : source.next([this] { return is_alive(); });
    if (!record.data && !is_closed_)
        need_mapid();
    if (!record.data)
        throw Error(MAPI_NO_MORE_RESULTS, function.name + " has no more results");
    std::vector<uint64_t> copy(function.result.size());
    memcpy(copy.data(), record.data,
           std::min(copy.size() * sizeof(uint64_t), size_t(record.bytes)));
    store(function.result, copy);
    std::atomic_ref(function.results.ts).store(engine::now_us(), std::memory_order_relaxed);
    return &function.results;
}

const mapipkt *RemoteFlow::next_packet(int fid)
{
    Function &function = connected_function(fid);
    ring::RecordSource &source = records(function, true);
    open_shortcut(fid, source, [&] { return function.is_removed.load(); });
    const auto lock = source.lock();
    if (is_closed_)
        return nullptr;
    const ring::Record record = source.next([this] { return is_alive(); });
    if (!record.data && !is_closed_)
        need_mapid();
    return reinterpret_cast<const mapipkt *>(record.data);
}

int RemoteFlow::next_packets(int fid, const mapipkt **packets, int most, int timeout_ms)
{
    ring::RecordSource &source = records(connected_function(fid), true);
    const auto lock = source.lock();
    if (is_closed_)
        return 0;
    const int count = source.next_many(
        most, timeout_ms, [this] { return is_alive(); },
        [&](const ring::Record &record) {
            *packets++ = reinterpret_cast<const mapipkt *>(record.data);
        });
    if (count == 0 && !is_closed_)
        need_mapid();
    return count;
}
} // namespace mapi::client
