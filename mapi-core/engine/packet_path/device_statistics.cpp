// SPDX-License-Identifier: MIT
// Device: what happened to its packets, called by clients' threads.
#include <algorithm>
#include <cstdio>
#include <string>

#include <unistd.h>

#include "engine/packet_path/device.hpp"

namespace mapi::engine
{
mapi_function_drops Device::sum_drops(std::string &failure)
{
    mapi_function_drops sum = {};
    std::vector<std::shared_ptr<Node>>
        nodes; // keeps nodes alive, so that none is destroyed under the lock
    const std::lock_guard lock(mutex_);
    for (const auto &known : nodes_) {
        nodes.push_back(known.lock());
        const mapi_function_drops drops =
            nodes.back() ? nodes.back()->drops() : mapi_function_drops{};
        sum.buffer_full += drops.buffer_full;
        sum.link_type += drops.link_type;
        sum.not_written += drops.not_written;
        if (drops.write_error)
            failure = nodes.back()->failure(drops);
    }
    sum.buffer_full += totals_->buffer_full;
    sum.link_type += totals_->link_type;
    sum.not_written += totals_->not_written;
    if (failure.empty())
        failure = totals_->failure();
    // Drops of a node that is being destroyed are briefly missing in both sums; never report a
    // decrease.
    sum.buffer_full = reported_drops_.buffer_full =
        std::max(sum.buffer_full, reported_drops_.buffer_full);
    sum.link_type = reported_drops_.link_type = std::max(sum.link_type, reported_drops_.link_type);
    sum.not_written = reported_drops_.not_written =
        std::max(sum.not_written, reported_drops_.not_written);
    return sum;
}

namespace
{
uint64_t sum_causes(const mapi_stat_t &stats)
{
    return stats.drop_bad_record + stats.drop_truncated + stats.drop_buffer_full +
           stats.drop_link_type + stats.drop_not_written + stats.drop_kernel + stats.drop_no_flow;
}

void set_drops(const mapi_function_drops &drops, mapi_stat_t &stats)
{
    stats.drop_buffer_full = drops.buffer_full;
    stats.drop_link_type = drops.link_type;
    stats.drop_not_written = drops.not_written;
}
} // namespace

void Device::copy_stats(mapi_stat_t *stats, FlowDrops *own)
{
    mapi_driver_stats driver = {};
    if (driver_.stats)
        driver_.stats(source_, &driver);
    free_retired();
    std::string failure;
    const mapi_function_drops drops = sum_drops(failure);
    *stats = {};
    gethostname(stats->hostname, sizeof(stats->hostname) - 1);
    snprintf(stats->dev, sizeof(stats->dev), "%s", settings_.name.c_str());
    if (is_out_of_memory_)
        snprintf(stats->message, sizeof(stats->message),
                 "%s: a function ran out of memory; reading has ended there",
                 settings_.name.c_str());
    else
        snprintf(stats->message, sizeof(stats->message), "%s",
                 *driver.message ? driver.message : failure.c_str());
    stats->ps_recv = packets_read_.load(std::memory_order_relaxed);
    stats->bytes_recv = bytes_read_.load(std::memory_order_relaxed);
    stats->ps_ifdrop = driver.interface_drops;
    stats->drop_bad_record = driver.bad_records;
    stats->drop_truncated = driver.truncated_records;
    stats->unread_bytes = driver.unread_bytes;
    set_drops(drops, *stats);
    stats->drop_kernel = driver.kernel_drops;
    stats->kernel_unreadable = driver.unreadable_packets;
    stats->kernel_late = driver.late_packets;
    stats->undecided = driver.undecided_packets;
    snprintf(stats->remark, sizeof(stats->remark), "%s", driver.remark);
    stats->drop_no_flow = packets_without_flow_.load(std::memory_order_relaxed);
    stats->device_drop = sum_causes(*stats);
    if (own)
        set_drops(own->sum(), *stats);
    stats->ps_drop = sum_causes(*stats);
}
} // namespace mapi::engine
