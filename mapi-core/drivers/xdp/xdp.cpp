// SPDX-License-Identifier: MIT
// xdp: a network interface whose packets functions see in the kernel; batches of those that others
// need.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <net/if.h>
#include <poll.h>

#include <mapi/driver.h>
#include <mapi/errors.h>
#include <mapi/explain.h>

#include "drivers/catalog.hpp"
#include "drivers/live/interface_drops.hpp"
#include "drivers/live/interface_watch.hpp"
#include "drivers/live/interruption.hpp"
#include "drivers/live/live_source.hpp"
#include "drivers/xdp/clocks.hpp"
#include "drivers/xdp/cost/program_cost.hpp"
#include "drivers/xdp/interface/attachment.hpp"
#include "drivers/xdp/interface/interface_type.hpp"
#include "drivers/xdp/kernel_object.hpp"
#include "drivers/xdp/packet_rings.hpp"
#include "drivers/xdp/probe_maps.hpp"
#include "drivers/xdp/program.hpp"
#include "links/link_type.hpp"
#include "match/bpf/native/bpf_emit_ebpf.hpp"

namespace mapi::drivers
{
namespace
{
using xdp::KernelRefusal;

enum Option { kBufferMb, kSnaplen, kDrop, kBoth, kOptions };
constexpr std::array<mapi_driver_option, kOptions + 1> kOptionTable = {{
    {"buffer_mb", 16, 1, 1024},
    {"snaplen", xdp::kSnaplenMax, 64, xdp::kSnaplenMax},
    {"drop", 0, 0, 1},
    {"both", 0, 0, 1},
    {nullptr, 0, 0, 0},
}};

constexpr int kWaitMs = 10;
constexpr uint64_t kDelayNs = 20000000; // from a packet to its delivery
constexpr auto kPatience = std::chrono::milliseconds(kWaitMs);
// For the end of another device of the interface, which first waits for running programs.
constexpr auto kEndPatience = std::chrono::seconds(5);

// The verifier allows offsets below 512 MiB, which is enough for 1,600 rings.
xdp::RingLayout ring_layout(uint64_t all_mb, uint32_t cpus, bool has_outgoing)
{
    constexpr uint64_t kOffsetMax = 1 << 29;
    const uint64_t least = std::bit_ceil(uint64_t{2} * xdp::kRecordBytesMax);
    xdp::RingLayout layout = {cpus, 0, has_outgoing};
    layout.data_bytes = uint32_t(std::max(std::bit_floor((all_mb << 20) / layout.rings()), least));
    while (layout.data_bytes > least &&
           uint64_t{layout.rings()} * layout.stride_bytes() > kOffsetMax)
        layout.data_bytes /= 2;
    return layout;
}

class Xdp
{
public:
    Xdp(std::string interface, const uint64_t *options)
        : interface_(std::move(interface)), ethernet_(xdp::find_ethernet(interface_)),
          cpus_(xdp::count_cpus()), has_packet_types_(options[kBoth] != 0),
          rings_(ring_layout(options[kBufferMb], cpus_,
                             options[kBoth] != 0 && !ethernet_.is_loopback)),
          buffers_("mapi_buffers", size_t{cpus_} * match::kEbpfBufferBytes), probes_(make_probes()),
          interface_drops_(interface_), watch_(interface_, kPatience)
    {
        setup_ = {.number = 0,
                  .snaplen = uint32_t(options[kSnaplen]),
                  .takes_fragments = true,
                  .drops = options[kDrop] != 0,
                  .ring = rings_.layout(),
                  .counts = -1,
                  .rings = rings_.descriptor(),
                  .buffers = buffers_.descriptor(),
                  .states = &states_,
                  .probes = probes_.get()};
        try {
            make_first();
        } catch (const KernelRefusal &refusal) {
            if (refusal.number() != EINVAL) // as for a flag that an older kernel does not know
                throw;
            setup_.takes_fragments = false;
            make_first();
        }
        active_ = first_.get();
    }

    mapi_driver_info info() const
    {
        mapi_driver_info info = {};
        info.snaplen = setup_.snaplen;
        info.link_type = links::kEthernet;
        info.interface_index = ethernet_.index;
        info.device_flags = has_packet_types_ ? MAPI_DEVICE_PACKET_TYPES : 0;
        info.delay_ns = kDelayNs;
        return info;
    }

    // Throws KernelRefusal.
    void start()
    {
        const std::lock_guard lock(mutex_);
        attachment_.emplace(interface_, ethernet_.index, active_->descriptor(),
                            active_->outgoing_descriptor(), kEndPatience);
    }

    int read(mapi_packet *packets, uint32_t limit, mapi_batch &batch)
    {
        if (interruption_.is_requested())
            return 0;
        rings_.release();
        const xdp::Program &program = previous_ ? *previous_ : *active_;
        passed_.assign(program.nodes(), 0);
        undecided_.assign(program.nodes(), 0);
        uint32_t undecided = 0, count = 0;
        const uint64_t to_real_ns = xdp::monotonic_to_real_ns();
        for (; count < limit; ++count) {
            const xdp::PacketRecord *const record = rings_.take(program.number());
            if (!record)
                break;
            const auto *words = reinterpret_cast<const uint64_t *>(record + 1);
            undecided += !program.add_verdicts(words, uint64_t{1} << count, passed_.data(),
                                               undecided_.data());
            mapi_packet &packet = packets[count];
            packet = {};
            packet.data = reinterpret_cast<const uint8_t *>(words + program.verdict_words());
            packet.caplen = record->caplen;
            packet.wire_len = record->wire_bytes;
            packet.timestamp_ns = record->time_ns + to_real_ns;
            packet.link_type = links::kEthernet;
            packet.packet_type = record->packet_type;
        }
        if (count == 0)
            return MAPI_DRIVER_IDLE;
        mapi_batch_fill(&batch, packets, count);
        undecided_packets_.fetch_add(undecided, std::memory_order_relaxed);
        verdicts_ = {passed_.data(), undecided == 0 ? nullptr : undecided_.data()};
        batch.offloaded = &verdicts_;
        return int(count);
    }

    // Polls: a program has no cheap way to wake a reader.
    int wait()
    {
        pollfd wake = {interruption_.descriptor(), POLLIN, 0};
        const int step_ms = active_->wants_any() ? 1 : kWaitMs;
        for (int waited_ms = 0; waited_ms < kWaitMs; waited_ms += step_ms) {
            if (poll(&wake, 1, step_ms) > 0 || previous_)
                return 0;
            if (rings_.has(active_->number()))
                return 1;
        }
        look_after_interface();
        return 0;
    }

    void interrupt() { interruption_.request(); }

    void copy_stats(mapi_driver_stats *stats)
    {
        const xdp::PacketRings::Drops drops = rings_.drops();
        stats->kernel_drops = drops.ring_full + drops.unreadable + drops.late;
        stats->unreadable_packets = drops.unreadable;
        stats->late_packets = drops.late;
        stats->undecided_packets = undecided_packets_.load(std::memory_order_relaxed);
        const std::lock_guard lock(mutex_);
        stats->interface_drops = interface_drops_.count();
        mapi_explain(stats->message, sizeof(stats->message), problem().c_str());
        mapi_explain(stats->remark, sizeof(stats->remark), remark().c_str());
    }

    xdp::Program *prepare(std::span<mapi_offload_node> nodes, uint32_t all_bytes)
    {
        ++setup_.number;
        try {
            return xdp::Program::make(nodes, all_bytes, setup_, known_).release();
        } catch (const std::exception &) {
            return xdp::Program::make_spare(*spare_, nodes, "memory or permission is missing")
                .release();
        }
    }

    void destroy(xdp::Program *program)
    {
        const std::lock_guard lock(mutex_);
        if (active_ == program) // reading has ended
            detach();
        delete program;
    }

    // null: detaches.
    void activate(xdp::Program *program)
    {
        const std::lock_guard lock(mutex_);
        if (program) {
            previous_ = std::exchange(active_, program);
            program->begin();
            replace();
        } else {
            detach();
        }
        xdp::wait_for_running_programs();
    }

    bool has_switched()
    {
        if (previous_ && rings_.has(previous_->number()))
            return false;
        previous_ = nullptr;
        return true;
    }

    // Any thread.  Throws std::runtime_error.
    void measure_cost(mapi_driver_cost &cost)
    {
        std::unique_lock lock(mutex_);
        if (!attachment_)
            throw std::runtime_error(interface_ + ": no program is attached to it at the moment");
        xdp::ProgramSetup setup = {.number = active_->number(), // the other is prepare()'s
                                   .snaplen = setup_.snaplen,
                                   .takes_fragments = setup_.takes_fragments,
                                   .drops = setup_.drops,
                                   .ring = rings_.layout(),
                                   .counts = -1,
                                   .rings = -1,
                                   .buffers = -1,
                                   .probes = probes_.get()};
        xdp::ProgramCost program(*active_, setup, attached_index(), attachment_->mode());
        lock.unlock(); // packets are read meanwhile, and other programs become active
        program.measure(cost);
    }

private:
    void make_first()
    {
        xdp::KnownCode none;
        first_ = xdp::Program::make({}, 0, setup_, none);
        ++setup_.number;
        spare_ = xdp::Program::make({}, MAPI_OFFLOAD_WHOLE, setup_, none);
    }

    // A device works without them.
    std::unique_ptr<xdp::ProbeMaps> make_probes()
    {
        try {
            return xdp::make_probe_maps(cpus_);
        } catch (const KernelRefusal &refusal) {
            why_no_probes_ = refusal.what();
            return nullptr;
        }
    }

    // Under mutex_, as the next ones.
    std::string remark() const
    {
        std::string text;
        if (attachment_ && attachment_->mode() == xdp::Attachment::Mode::kGeneric)
            text = interface_ + ": XDP in generic mode: slower, since the interface's driver does "
                                "not support it";
        if (!why_no_probes_.empty())
            text += (text.empty() ? interface_ + ": " : "; ") +
                    "its program has no probes: " + why_no_probes_;
        return text;
    }

    std::string problem() const
    {
        std::string text = watch_.message();
        if (times_detached_ > 0)
            text += (text.empty() ? interface_ + ": " : "; ") +
                    "somebody else detached its program, " + std::to_string(times_detached_) +
                    (times_detached_ == 1 ? " time" : " times") +
                    "; packets until the next change of flows were not counted";
        return text;
    }

    void detach()
    {
        is_over_ = true;
        attachment_.reset();
        previous_ = nullptr;
        active_ = first_.get();
    }

    void replace()
    {
        if (!attachment_)
            return;
        try {
            attachment_->replace(active_->descriptor(), active_->outgoing_descriptor());
        } catch (const KernelRefusal &) {
            attachment_.reset(); // the previous program would not be read
            if (if_nametoindex(interface_.c_str()) != attached_index())
                return watch_.went_away();
            ++times_detached_;
            attach_again();
        }
    }

    // The kernel detaches the program of an interface that disappears.
    void look_after_interface()
    {
        const uint32_t now = if_nametoindex(interface_.c_str());
        const std::lock_guard lock(mutex_);
        if (is_over_ || (attachment_ && now == attached_index()))
            return;
        if (attachment_) {
            attachment_.reset();
            watch_.went_away();
        }
        if (now != 0 && watch_.may_be_back())
            attach_again();
    }

    void attach_again()
    {
        try {
            const xdp::Ethernet now = xdp::find_ethernet(interface_);
            attachment_.emplace(interface_, now.index, active_->descriptor(),
                                active_->outgoing_descriptor(), std::chrono::milliseconds(0));
            current_index_ = now.index;
            watch_.came_back();
        } catch (const std::exception &refusal) {
            watch_.could_not_be_opened(refusal.what());
        }
    }
    uint32_t attached_index() const { return current_index_ ? current_index_ : ethernet_.index; }

    const std::string interface_;
    const xdp::Ethernet ethernet_;
    const uint32_t cpus_;
    const bool has_packet_types_; // else all packets are incoming
    xdp::PacketRings rings_;
    xdp::SharedArray buffers_;
    std::string why_no_probes_;                    // the kernel refused them; else empty
    const std::unique_ptr<xdp::ProbeMaps> probes_; // of all its programs; null: they have none
    xdp::StateSlots states_;
    xdp::ProgramSetup setup_;                  // prepare()'s thread
    xdp::KnownCode known_;                     // likewise
    std::unique_ptr<xdp::Program> first_;      // until the engine has one
    std::unique_ptr<xdp::Program> spare_;      // if the engine's cannot be made
    xdp::Program *active_ = nullptr;           // device's thread after start()
    xdp::Program *previous_ = nullptr;         // its packets have not all been read
    std::vector<uint64_t> passed_, undecided_; // by node
    mapi_offloaded verdicts_ = {};
    std::atomic<uint64_t> undecided_packets_ = 0;
    Interruption interruption_;

    std::mutex mutex_; // all below
    std::optional<xdp::Attachment> attachment_;
    bool is_over_ = false;        // detached for good
    uint64_t times_detached_ = 0; // by others
    uint32_t current_index_ = 0;  // of an interface that has returned
    InterfaceDrops interface_drops_;
    InterfaceWatch watch_;
};

using Table = LiveSource<Xdp>;

Xdp &of(void *instance)
{
    return *static_cast<Xdp *>(instance);
}

void *prepare(void *instance, mapi_offload_node *nodes, uint32_t count, uint32_t all_bytes)
{
    return of(instance).prepare({nodes, count}, all_bytes);
}

void destroy(void *instance, void *program)
{
    of(instance).destroy(static_cast<xdp::Program *>(program));
}

void activate(void *instance, void *program)
{
    of(instance).activate(static_cast<xdp::Program *>(program));
}

int has_switched(void *instance)
{
    return of(instance).has_switched();
}

void count(void *, void *program, mapi_offload_count *counts)
{
    static_cast<const xdp::Program *>(program)->count(counts);
}

int measure_cost(void *instance, mapi_driver_cost *cost, char *error, uint32_t error_bytes)
{
    try {
        of(instance).measure_cost(*cost);
        return 0;
    } catch (const std::exception &problem) {
        mapi_explain(error, error_bytes, problem.what());
        return MAPI_STATS_ERROR;
    }
}

constexpr mapi_driver_offload kOffload = {
    .struct_size = sizeof(mapi_driver_offload),
    .place = "kernel",
    .prepare = prepare,
    .destroy = destroy,
    .activate = activate,
    .has_switched = has_switched,
    .count = count,
    .cost = measure_cost,
};
} // namespace
} // namespace mapi::drivers

extern "C" const mapi_driver mapi_driver_xdp = {
    .abi = MAPI_DRIVER_ABI,
    .struct_size = sizeof(mapi_driver),
    .name = "xdp",
    .description =
        "runs functions in the kernel on the packets of a network interface, and reads what others "
        "need; sees outgoing packets only with both=1, and no VLAN tag that the interface itself "
        "removes or adds",
    .open = mapi::drivers::Table::open,
    .read = mapi::drivers::Table::read,
    .close = mapi::drivers::Table::close,
    .stats = mapi::drivers::Table::stats,
    .interrupt = mapi::drivers::Table::interrupt,
    .read_more = nullptr,
    .options = mapi::drivers::kOptionTable.data(),
    .live = &mapi::drivers::Table::kLive,
    .file = nullptr,
    .filter = nullptr,
    .offload = &mapi::drivers::kOffload,
};
