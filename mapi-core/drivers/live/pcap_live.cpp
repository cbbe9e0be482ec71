// SPDX-License-Identifier: MIT
// pcap_live: any source of libpcap -> packet batches.  Each packet is copied once.  Survives the
// removal of the interface.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <poll.h>

#include <pcap/pcap.h>

#include <mapi/driver.h>
#include <mapi/errors.h>

#include "drivers/catalog.hpp"
#include "drivers/live/interface_watch.hpp"
#include "drivers/live/interruption.hpp"
#include "drivers/live/kernel_filter.hpp"
#include "drivers/live/live_options.hpp"
#include "drivers/live/live_source.hpp"
#include "drivers/live/packet_socket.hpp"
#include "links/link_type.hpp"

namespace mapi::drivers
{
namespace
{
enum OwnOption { kMonitor = kLiveOptions, kOptions };
constexpr auto kOptionTable = live_options(1, 2047, {"monitor", 0, 0, 1});
constexpr uint64_t kNsPerSecond = 1000000000;

// libpcap's DLT_ numbers are specific to this system.
uint16_t link_type_of(int datalink)
{
    return uint16_t(links::from_recorded(uint32_t(datalink)));
}

struct Close {
    void operator()(pcap_t *handle) const { pcap_close(handle); }
};
using Handle = std::unique_ptr<pcap_t, Close>;

class PcapLive
{
public:
    // Opens the source and closes it again: failures are reported now, and no packet arrives before
    // start().
    PcapLive(std::string interface, const uint64_t *options)
        : interface_(std::move(interface)),
          watch_(interface_, std::chrono::milliseconds(live_delay_ms(options[kBlockTimeoutMs])))
    {
        std::copy_n(options, size_t(kOptions), options_);
        const Handle handle = activate();
        link_type_ = link_type_of(pcap_datalink(handle.get()));
    }

    mapi_driver_info info() const
    {
        mapi_driver_info info = {};
        info.snaplen = uint32_t(options_[kSnaplen]);
        info.link_type = link_type_;
        info.delay_ns = live_delay_ms(options_[kBlockTimeoutMs]) * kNsPerMs;
        return info;
    }

    // Throws std::runtime_error.  The handle is created without the lock, since allocating a large
    // buffer takes long.
    void start()
    {
        Handle handle = activate();
        if (link_type_of(pcap_datalink(handle.get())) != link_type_)
            throw std::runtime_error(interface_ + ": its link type has changed");
        const std::lock_guard lock(mutex_);
        handle_ = std::move(handle);
        last_ = {};
        is_nanoseconds_ = pcap_get_tstamp_precision(handle_.get()) == PCAP_TSTAMP_PRECISION_NANO;
        descriptor_ = pcap_get_selectable_fd(handle_.get());
        install();
        watch_.came_back();
    }

    int read(mapi_packet *packets, uint32_t limit, mapi_batch &batch)
    {
        if (interruption_.is_requested())
            return 0;
        packets_ = packets;
        count_ = 0;
        bytes_.clear();
        offsets_.clear();
        const std::lock_guard lock(mutex_);
        if (!handle_)
            return MAPI_DRIVER_IDLE;
        errno = 0;
        const bool has_failed =
            pcap_dispatch(handle_.get(), int(limit), take, reinterpret_cast<uint8_t *>(this)) < 0 &&
            errno != EAGAIN; // libpcap returns an error for netlink sources that have no data yet
        if (count_ == 0) {
            if ((has_failed || watch_.is_going()) && watch_.is_over())
                lose();
            return MAPI_DRIVER_IDLE;
        }
        for (uint32_t i = 0; i < count_; ++i)
            packets[i].data = bytes_.data() + offsets_[i];
        mapi_batch_fill(&batch, packets, count_);
        return int(count_);
    }

    // Some sources have no descriptor to wait for.  That of a removed interface would be readable
    // all the time.
    int wait()
    {
        const bool is_watched = descriptor_ >= 0 && !watch_.is_going();
        pollfd polled[2] = {{interruption_.descriptor(), POLLIN, 0}, {descriptor_, POLLIN, 0}};
        const int ready = poll(polled, is_watched ? 2 : 1, int(kWaitMs));
        if (!handle_) {
            reopen();
            return 0;
        }
        if (ready == 0 && is_watched && has_lost_interface(descriptor_))
            watch_.goes();
        return is_watched ? ready > 0 && polled[1].revents != 0 : ready == 0;
    }

    void interrupt() { interruption_.request(); }

    void copy_stats(mapi_driver_stats *stats)
    {
        const std::lock_guard lock(mutex_);
        collect();
        stats->kernel_drops = kernel_drops_;
        stats->interface_drops = interface_drops_;
        mapi_explain(stats->message, sizeof(stats->message), watch_.message().c_str());
    }

    int set_filter(const mapi_filter_code *code, uint32_t count)
    {
        const std::lock_guard lock(mutex_);
        filter_ = kernel_filter(code, count, uint32_t(options_[kSnaplen]));
        const bool is_taken = !filter_.empty();
        return (!handle_ || install()) && is_taken;
    }

private:
    [[noreturn]] void fail(pcap_t *handle, int status) const
    {
        const std::string more = pcap_geterr(handle);
        std::string text = interface_ + ": " + pcap_statustostr(status);
        if (!more.empty() && more != interface_)
            text += ": " + more;
        if (status == PCAP_ERROR_PERM_DENIED)
            text += kCapturePrivilege;
        if (status == PCAP_ERROR_NO_SUCH_DEVICE)
            throw NoInterface(text);
        throw std::runtime_error(text);
    }

    Handle activate() const
    {
        char error[PCAP_ERRBUF_SIZE] = "";
        Handle handle(pcap_create(interface_.c_str(), error));
        if (!handle)
            throw std::runtime_error(interface_ + ": " + error);
        pcap_t *const raw = handle.get();
        pcap_set_buffer_size(raw, int(options_[kBufferMb] << 20));
        pcap_set_snaplen(raw, int(options_[kSnaplen]));
        pcap_set_timeout(raw, int(options_[kBlockTimeoutMs]));
        pcap_set_promisc(raw, int(options_[kPromiscuous]));
        pcap_set_tstamp_precision(raw, PCAP_TSTAMP_PRECISION_NANO); // falls back to microseconds
        if (options_[kMonitor]) {
            const int can = pcap_can_set_rfmon(raw);
            if (can != 1)
                fail(raw, can == 0 ? PCAP_ERROR_RFMON_NOTSUP : can);
            pcap_set_rfmon(raw, 1);
        }
        if (const int status = pcap_activate(raw); status < 0)
            fail(raw, status);
        if (pcap_setnonblock(raw, 1, error) < 0)
            throw std::runtime_error(interface_ + ": " + error);
        if (!options_[kOutgoing] && pcap_setdirection(raw, PCAP_D_IN) < 0)
            fail(raw, PCAP_ERROR);
        return handle;
    }

    static void take(uint8_t *self, const pcap_pkthdr *header, const uint8_t *data)
    {
        static_cast<PcapLive *>(static_cast<void *>(self))->add(*header, data);
    }

    // libpcap's bytes are valid only during the call.
    void add(const pcap_pkthdr &header, const uint8_t *data)
    {
        mapi_packet &packet = packets_[count_++];
        packet = {};
        packet.caplen = std::min(header.caplen, header.len);
        packet.wire_len = header.len;
        packet.timestamp_ns = uint64_t(header.ts.tv_sec) * kNsPerSecond +
                              uint64_t(header.ts.tv_usec) * (is_nanoseconds_ ? 1 : 1000);
        packet.link_type = link_type_;
        offsets_.push_back(bytes_.size());
        bytes_.insert(bytes_.end(), data, data + packet.caplen);
    }

    // Under mutex_.
    void lose()
    {
        collect();
        handle_.reset();
        descriptor_ = -1;
        watch_.went_away();
    }

    void reopen()
    {
        if (!watch_.may_be_back())
            return;
        try {
            start();
        } catch (const std::exception &error) {
            const std::lock_guard lock(mutex_);
            watch_.could_not_be_opened(error.what());
        }
    }

    // Under mutex_.
    void collect()
    {
        pcap_stat now = {};
        if (!handle_ || pcap_stats(handle_.get(), &now) != 0)
            return;
        kernel_drops_ += uint32_t(now.ps_drop - last_.ps_drop); // 32-bit counters
        interface_drops_ += uint32_t(now.ps_ifdrop - last_.ps_ifdrop);
        last_ = now;
    }

    // Under mutex_.
    bool install()
    {
        std::vector<sock_filter> filter =
            filter_.empty() ? pass_all(uint32_t(options_[kSnaplen])) : filter_;
        std::vector<bpf_insn> code;
        for (const sock_filter &one : filter)
            code.push_back({one.code, one.jt, one.jf, one.k});
        bpf_program program = {unsigned(code.size()), code.data()};
        return pcap_setfilter(handle_.get(), &program) == 0;
    }

    const std::string interface_;
    uint64_t options_[kOptions];
    uint16_t link_type_ = 0;
    bool is_nanoseconds_ = false;
    int descriptor_ = -1; // to poll
    Interruption interruption_;

    mapi_packet *packets_ = nullptr; // of the current read()
    uint32_t count_ = 0;
    std::vector<uint8_t> bytes_;
    std::vector<size_t> offsets_;

    std::mutex mutex_; // all below: a libpcap handle may be used by one thread at a time
    Handle handle_; // null before start(), and while the interface is gone; after start() changed
                    // only by the device's thread
    std::vector<sock_filter> filter_;
    pcap_stat last_ = {};
    uint64_t kernel_drops_ = 0;
    uint64_t interface_drops_ = 0;
    InterfaceWatch watch_;
};

using Table = LiveSource<PcapLive>;
} // namespace
} // namespace mapi::drivers

extern "C" const mapi_driver mapi_driver_pcap_live = {
    .abi = MAPI_DRIVER_ABI,
    .struct_size = sizeof(mapi_driver),
    .name = "pcap_live",
    .description = "reads what libpcap captures from",
    .open = mapi::drivers::Table::open,
    .read = mapi::drivers::Table::read,
    .close = mapi::drivers::Table::close,
    .stats = mapi::drivers::Table::stats,
    .interrupt = mapi::drivers::Table::interrupt,
    .options = mapi::drivers::kOptionTable.data(),
    .live = &mapi::drivers::Table::kLive,
    .filter = &mapi::drivers::Table::kFilter,
};
