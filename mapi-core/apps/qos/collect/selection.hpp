// SPDX-License-Identifier: MIT
// selection: captures or a device -> a flow with PKTSELECT, whose results go into a queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include <mapi/mapi.h>

#include "captures/source.hpp"
#include "qos/collect/packet_queue.hpp"
#include "qos/options.hpp"

namespace qos
{
struct SelectionCounts {
    uint64_t packets = 0; // that passed the filter
    uint64_t selected = 0;
    uint64_t unread = 0;    // headers unreadable, or the covered bytes truncated
    uint64_t dropped = 0;   // selected, but libmapi's buffer was full
    uint64_t malformed = 0; // their time cannot be represented
    int64_t first_ns = 0;   // of the packets that passed the filter, selected or not
    int64_t last_ns = 0;
};

class Selection
{
public:
    // Throws captures_source::MapiError.  The queue must outlive it.
    Selection(const CollectOptions &options, PacketQueue &queue);
    ~Selection();
    Selection(const Selection &) = delete;
    Selection &operator=(const Selection &) = delete;

    void start() { source_.start(); }
    // No further packets; those that have arrived are in the queue when it returns.
    void stop();
    // After a failure, the last ones that could be read.
    const SelectionCounts &counts();
    const mapi_stat_t &stats(); // of the device
    // Why no further packets arrive, such as the end of mapid; empty: nothing is wrong.  Once the
    // queue has ended.
    const std::string &failure() const { return failure_; }

private:
    void apply(const CollectOptions &options);
    void read();
    bool update_counts();

    PacketQueue &queue_;
    struct FlowHandle {
        FlowHandle() = default;
        ~FlowHandle()
        {
            if (number > 0)
                mapi_close_flow(number);
        }
        FlowHandle(const FlowHandle &) = delete;
        FlowHandle &operator=(const FlowHandle &) = delete;

        int number = 0;
    };

    const captures_source::CaptureList captures_; // empty for a device
    captures_source::Source source_;
    FlowHandle flow_;
    int times_ = 0;  // STARTSTOP
    int select_ = 0; // PKTSELECT
    std::thread reader_;
    SelectionCounts counts_;
    mapi_stat_t stats_ = {};
    std::string failure_;
    std::atomic<bool> is_stopping_ = false;
    std::atomic<uint64_t> malformed_ = 0;
};
} // namespace qos
