// SPDX-License-Identifier: MIT
// af_packet: a network interface -> packet batches, in memory that the kernel fills.  Survives the
// interface going down or away.
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <mapi/driver.h>
#include <mapi/errors.h>

#include "drivers/catalog.hpp"
#include "drivers/live/interface_drops.hpp"
#include "drivers/live/interface_watch.hpp"
#include "drivers/live/interruption.hpp"
#include "drivers/live/live_options.hpp"
#include "drivers/live/live_source.hpp"
#include "drivers/live/packet_block.hpp"
#include "drivers/live/packet_socket.hpp"

namespace mapi::drivers
{
namespace
{
enum OwnOption { kFanoutGroup = kLiveOptions };
constexpr auto kOptionTable = live_options(2, 4096, {"fanout_group", 0, 0, 65535});

PacketSocketOptions socket_options(const uint64_t *values)
{
    return {values[kBufferMb] << 20,   values[kSnaplen],       values[kBlockTimeoutMs],
            values[kPromiscuous] != 0, values[kOutgoing] != 0, uint16_t(values[kFanoutGroup])};
}

class AfPacket
{
public:
    AfPacket(std::string interface, const uint64_t *options)
        : interface_(std::move(interface)), options_(socket_options(options)),
          socket_(std::make_unique<PacketSocket>(interface_, options_)),
          link_type_(socket_->link_type()), loopback_(int(if_nametoindex("lo"))),
          interface_drops_(interface_),
          watch_(interface_, std::chrono::milliseconds(live_delay_ms(options_.block_timeout_ms)))
    {
    }

    mapi_driver_info info() const
    {
        mapi_driver_info info = {};
        info.device_flags = MAPI_DEVICE_PACKET_TYPES;
        info.snaplen = uint32_t(options_.snaplen);
        info.link_type = link_type_;
        info.interface_index = socket_->interface_index();
        info.delay_ns = live_delay_ms(options_.block_timeout_ms) * kNsPerMs;
        return info;
    }

    // Throws std::runtime_error.
    void start()
    {
        const std::lock_guard lock(mutex_);
        was_up_ = socket_->bind();
    }

    int read(mapi_packet *packets, uint32_t limit, mapi_batch &batch)
    {
        uint32_t count = 0;
        while (count == 0) {
            if (interruption_.is_requested())
                return 0;
            if (!has_packet())
                return MAPI_DRIVER_IDLE;
            count = take(packets, limit);
        }
        mapi_batch_fill(&batch, packets, count);
        return int(count);
    }

    int read_more(mapi_packet *packets, uint32_t limit, mapi_batch &batch)
    {
        const uint32_t count = take(packets, limit);
        mapi_batch_fill(&batch, packets, count);
        return int(count);
    }

    int wait()
    {
        if (!socket_) {
            pollfd wake = {interruption_.descriptor(), POLLIN, 0};
            poll(&wake, 1, int(kWaitMs));
            reopen();
            return 0;
        }
        pollfd polled[2] = {{socket_->descriptor(), POLLIN, 0},
                            {interruption_.descriptor(), POLLIN, 0}};
        const int ready = poll(polled, 2, int(kWaitMs));
        if (ready == 0 || (polled[0].revents & POLLERR))
            look_after_interface();
        return ready > 0 && (polled[0].revents & POLLIN) != 0;
    }

    void interrupt() { interruption_.request(); }

    void copy_stats(mapi_driver_stats *stats)
    {
        const std::lock_guard lock(mutex_);
        collect();
        stats->kernel_drops = kernel_drops_;
        stats->interface_drops = interface_drops_.count();
        mapi_explain(stats->message, sizeof(stats->message), watch_.message().c_str());
        if (!was_up_)
            mapi_explain(stats->remark, sizeof(stats->remark),
                         (interface_ + ": the interface was down when it was opened; packets are "
                                       "read while it is up")
                             .c_str());
    }

    int set_filter(const mapi_filter_code *code, uint32_t count)
    {
        const std::lock_guard lock(mutex_);
        filter_ = code;
        filter_count_ = count;
        return !socket_ || socket_->set_filter(code, count);
    }

private:
    // Takes packets from the current block.
    uint32_t take(mapi_packet *packets, uint32_t limit)
    {
        return block_.take(packets, limit, {link_type_, uint32_t(options_.snaplen), loopback_});
    }

    // A block is kept until the next one is needed: the last batch points into it.
    bool has_packet()
    {
        if (!block_.is_empty())
            return true;
        if (!socket_)
            return false;
        if (block_.block())
            socket_->release(block_.block());
        tpacket_block_desc *const next = socket_->block();
        block_ = next ? PacketBlock(next) : PacketBlock();
        return next != nullptr;
    }

    // An interface that is down keeps its socket; that of a removed interface is closed after its
    // last packets have been read.
    void look_after_interface()
    {
        int error = 0;
        socklen_t bytes = sizeof(error);
        getsockopt(socket_->descriptor(), SOL_SOCKET, SO_ERROR, &error, &bytes);
        const bool is_dead = socket_->is_dead();
        const std::lock_guard lock(mutex_);
        if (error != 0)
            watch_.went_down();
        if (!is_dead || !watch_.is_over())
            return;
        collect();
        block_ = {};
        socket_.reset();
        watch_.went_away();
    }

    // The socket is created without the lock, since allocating a large buffer takes long.
    void reopen()
    {
        if (!watch_.may_be_back())
            return;
        try {
            auto fresh = std::make_unique<PacketSocket>(interface_, options_, link_type_);
            const std::lock_guard lock(mutex_);
            fresh->set_filter(filter_, filter_count_);
            fresh->bind();
            socket_ = std::move(fresh);
            watch_.came_back();
        } catch (const std::exception &error) {
            const std::lock_guard lock(mutex_);
            watch_.could_not_be_opened(error.what());
        }
    }

    // Under mutex_: reading the kernel's counter resets it.
    void collect()
    {
        if (socket_)
            kernel_drops_ += socket_->take_drops();
    }

    const std::string interface_;
    const PacketSocketOptions options_;
    std::unique_ptr<PacketSocket> socket_; // null if its interface is gone; changed under mutex_
    const uint16_t link_type_;
    const int loopback_; // interface index of lo, or 0
    Interruption interruption_;

    PacketBlock block_; // the current block

    std::mutex mutex_; // all below
    const mapi_filter_code *filter_ = nullptr;
    uint32_t filter_count_ = 0;
    uint64_t kernel_drops_ = 0;
    bool was_up_ = true; // when it was opened
    InterfaceDrops interface_drops_;
    InterfaceWatch watch_;
};

using Table = LiveSource<AfPacket>;
} // namespace
} // namespace mapi::drivers

extern "C" const mapi_driver mapi_driver_af_packet = {
    .abi = MAPI_DRIVER_ABI,
    .struct_size = sizeof(mapi_driver),
    .name = "af_packet",
    .description = "reads a network interface",
    .open = mapi::drivers::Table::open,
    .read = mapi::drivers::Table::read,
    .close = mapi::drivers::Table::close,
    .stats = mapi::drivers::Table::stats,
    .interrupt = mapi::drivers::Table::interrupt,
    .read_more = mapi::drivers::Table::read_more,
    .options = mapi::drivers::kOptionTable.data(),
    .live = &mapi::drivers::Table::kLive,
    .filter = &mapi::drivers::Table::kFilter,
};
