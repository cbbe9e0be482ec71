// SPDX-License-Identifier: MIT
// Burst: the packets that one iteration of a device's thread takes from its driver, in batches of
// one mask each; the probes' unit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include <mapi/driver.h>
#include <mapi/function.h>

namespace mapi::engine
{
// Probes cost as much per burst as they would per batch.  A longer burst delays its results, and
// what is read of its packets should fit into a second-level cache: 512 packets with two lines of
// headers, and a view, each.
constexpr uint32_t kBurstBatches = 8;
constexpr uint32_t kBurstPackets = kBurstBatches * MAPI_BATCH_MAX;

// At most kBurstBatches; all packets were available at the same time.
using Burst = std::span<const mapi_batch>;

// Refilled by the device's thread.
class BurstBuffer
{
public:
    // At most `limit` packets, up to kBurstPackets; returns as the driver's read() does.  Does not
    // wait for packets that are not yet available.
    int read(const mapi_driver &driver, void *source, uint32_t limit)
    {
        batch_count_ = packet_count_ = 0;
        int got = read_batch(driver.read, source, limit);
        if (got <= 0)
            return got;
        while (driver.read_more && got == MAPI_BATCH_MAX && packet_count_ < limit)
            got = read_batch(driver.read_more, source, limit);
        return int(packet_count_);
    }

    Burst batches() const { return {batches_, batch_count_}; }
    uint64_t wire_bytes() const
    {
        uint64_t sum = 0;
        for (const mapi_batch &batch : batches())
            sum += batch.wire_bytes;
        return sum;
    }
    uint64_t last_timestamp_ns() const
    {
        return batches_[batch_count_ - 1]
            .packets[batches_[batch_count_ - 1].count - 1]
            .timestamp_ns;
    }

private:
    int read_batch(decltype(mapi_driver::read) read, void *source, uint32_t limit)
    {
        batches_[batch_count_].prefiltered = nullptr;
        batches_[batch_count_].offloaded = nullptr;
        const int got = read(source, packets_ + packet_count_,
                             std::min<uint32_t>(limit - packet_count_, MAPI_BATCH_MAX),
                             &batches_[batch_count_]);
        if (got > 0) {
            ++batch_count_;
            packet_count_ += uint32_t(got);
        }
        return got;
    }

    alignas(64) mapi_packet packets_[kBurstPackets];
    mapi_batch batches_[kBurstBatches] = {};
    uint32_t batch_count_ = 0;
    uint32_t packet_count_ = 0;
};
} // namespace mapi::engine
