// SPDX-License-Identifier: MIT
// live_frames: work -> XDP frames that the kernel makes and gives to the driver.
//
// BPF_PROG_RUN calls an XDP program for frame after frame.  A call for more than one frame takes
// 24 ms at its begin and end, in which the kernel changes its own code, and one for a single frame
// 13 us: hence either one call lasts for the whole run, and the program waits for the schedule, or
// with a slow schedule there is a call for each packet.
#include "live_frames.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "drivers/xdp/kernel_object.hpp"
#include "live_program.hpp"

namespace mapi_gen
{
namespace
{
using mapi::drivers::xdp::KernelRefusal;
using mapi::drivers::xdp::SharedArray;
using mapi::ipc::Descriptor;

constexpr const char *kTracepoint = "xdp_devmap_xmit";
constexpr Ticks kSlow = ticks(50'000);        // from here on a call for each packet
constexpr uint32_t kBatch = 64;               // frames between two looks at signals
constexpr uint32_t kPacedBatch = 16;          // fewer: frames wait for the end of their batch
constexpr uint64_t kMostPacketBytes = 3000;   // of a frame; the kernel needs the rest of the page
constexpr uint64_t kMostMapBytes = 512 << 20; // further the verifier follows no pointer
constexpr unsigned long kTimerSlackNs = 1000;

// Attached until both are closed.
struct Counter {
    Descriptor program, link;
};

Counter attach_counter(const LiveSetup &setup)
{
    static const int16_t index_at = mapi::drivers::xdp::member_offset("net_device", "ifindex");
    mapi::match::EbpfCode code;
    write_counter(setup, index_at, code);
    const auto instructions = code.finish();
    const int target = libbpf_find_vmlinux_btf_id(kTracepoint, BPF_TRACE_RAW_TP);
    if (target < 0)
        throw Refusal(fmt::format("tracepoint {}: {}", kTracepoint, std::strerror(-target)));
    LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_RAW_TP,
                .attach_btf_id = uint32_t(target));
    Counter counter;
    counter.program = Descriptor(bpf_prog_load(
        BPF_PROG_TYPE_TRACING, "mapi_gen_count", "Dual MIT/GPL",
        reinterpret_cast<const bpf_insn *>(instructions.data()), instructions.size(), &options));
    if (counter.program.is_open())
        counter.link = Descriptor(bpf_raw_tracepoint_open(nullptr, counter.program.number()));
    if (!counter.link.is_open())
        throw Refusal(fmt::format("tracepoint {}: {} (requires the capabilities CAP_BPF and "
                                  "CAP_PERFMON)",
                                  kTracepoint, std::strerror(errno)));
    return counter;
}

// Packets of a capture, for the programs of all threads; null for generated ones.
std::shared_ptr<SharedArray> share_packets(const Work &work)
{
    const Packets &packets = work.packets;
    const uint64_t longest = packets.longest();
    if (longest > kMostPacketBytes)
        throw Refusal(fmt::format("XDP live frames: a packet of {} bytes: at most {} fit", longest,
                                  kMostPacketBytes));
    if (packets.is_generated)
        return nullptr;
    const uint64_t slot = slot_bytes(longest);
    if (slot * packets.places.size() > kMostMapBytes)
        throw Refusal(fmt::format("XDP live frames: {} packets of up to {} bytes: a map has at "
                                  "most 512 MiB",
                                  packets.places.size(), longest));
    auto map = std::make_shared<SharedArray>("mapi_gen_data", slot * packets.places.size());
    auto *at = reinterpret_cast<uint8_t *>(map->words().data());
    for (size_t i = 0; i < packets.places.size(); ++i, at += slot) {
        const uint64_t bytes = packets.places[i].bytes;
        const Ticks cost =
            work.rate.is_given() ? cost_of(work.rate, wire_bytes(bytes), work.threads) : 0;
        std::memcpy(at + kSlotBytesAt, &bytes, sizeof(bytes));
        std::memcpy(at + kSlotCostAt, &cost, sizeof(cost));
        std::memcpy(at + kSlotDataAt, packets.packet(i).data(), bytes);
    }
    return map;
}

bool is_slow(const Work &work)
{
    return work.rate.is_given() &&
           cost_of(work.rate, uint64_t(work.packets.mean_wire_bytes()), work.threads) >= kSlow;
}

class LiveFrames : public Sender
{
public:
    LiveFrames(const Work &work, std::shared_ptr<SharedArray> data);

    // Sends one packet.  Throws Refusal if the driver does not take it.
    void try_one();
    void run(uint64_t start_ns) override;
    void stop() override
    {
        is_stopped_ = true;
        set(kLimit, 0);
    }
    bool is_over() const override { return get(kAsked) >= get(kLimit); }
    Counts counts() const override;
    uint64_t first_ns() const override { return get(kStart); }
    uint64_t last_ns() const override { return get(kAccepted) >= work_.share ? get(kLast) : 0; }

private:
    // The programs write it while other threads read.
    uint64_t get(StateWord number) const
    {
        return std::atomic_ref<uint64_t>(state_.words()[number]).load();
    }
    void set(StateWord number, uint64_t value)
    {
        std::atomic_ref<uint64_t>(state_.words()[number]).store(value);
    }
    bool is_paced_in_kernel() const { return work_.rate.is_given() && !is_slow_; }
    Ticks next_cost() const;
    bool wait_for_schedule();
    void call(uint64_t runs);

    const Work work_;
    const bool is_slow_;                // one call is for one packet
    std::shared_ptr<SharedArray> data_; // of a capture
    SharedArray state_;
    Descriptor program_;
    Counter counter_;
    Pace pace_;
    std::vector<uint8_t> frame_;
    uint64_t start_ns_ = 0;
    std::atomic<bool> is_stopped_ = false, is_in_call_ = false;
    std::atomic<uint64_t> lost_before_driver_ = 0; // known after a call
    std::atomic<int> error_ = 0;
};

LiveFrames::LiveFrames(const Work &work, std::shared_ptr<SharedArray> data)
    : work_(work), is_slow_(is_slow(work)), data_(std::move(data)),
      state_("mapi_gen_state", size_t{8} * kStateWords), pace_(work.offset)
{
    const Packets &packets = work.packets;
    frame_.resize(packets.longest());
    if (packets.is_generated) {
        std::copy(packets.packet(0).begin(), packets.packet(0).end(), frame_.begin());
        std::memcpy(state_.words().data() + kHeader, frame_.data(), kHeaderBytes);
    }
    set(kVariant, work.first % packets.variants());
    const LiveSetup setup = {work_, state_.descriptor(), data_ ? data_->descriptor() : -1,
                             is_paced_in_kernel()};
    mapi::match::EbpfCode code;
    write_sender(setup, code);
    code.finish();
    program_ = mapi::drivers::xdp::load_xdp_program("mapi_gen_send", code, false);
    counter_ = attach_counter(setup);
    set(kNext, work.offset);
}

// The program's runs are at least the packets that it may still send.
void LiveFrames::call(uint64_t runs)
{
    xdp_md ends = {};
    ends.data_end = uint32_t(frame_.size());
    LIBBPF_OPTS(bpf_test_run_opts, options);
    options.data_in = frame_.data();
    options.data_size_in = uint32_t(frame_.size());
    options.ctx_in = &ends;
    options.ctx_size_in = sizeof(ends);
    options.repeat = int(std::min<uint64_t>(runs, INT_MAX));
    options.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
    options.batch_size = runs == 1 ? 1 : is_paced_in_kernel() ? kPacedBatch : kBatch;
    is_in_call_ = true;
    const int result = bpf_prog_test_run_opts(program_.number(), &options);
    const int number = result == 0 ? 0 : errno;
    lost_before_driver_ = get(kAsked) - get(kAccepted) - get(kDropped);
    is_in_call_ = false;
    if (number != 0 && number != EINTR && number != EAGAIN)
        error_ = number;
}

void LiveFrames::try_one()
{
    set(kThread, uint64_t(gettid()));
    set(kLimit, 1);
    if (is_paced_in_kernel())
        set(kStart, now_ns() - (work_.offset >> kTickShift) - 1);
    call(1);
    if (error_ != 0)
        throw Refusal(fmt::format("XDP live frames: BPF_PROG_RUN: {} (requires Linux 5.18)",
                                  std::strerror(error_)));
    if (get(kAccepted) != 1) {
        const auto number = int32_t(get(kError));
        throw Refusal(fmt::format(
            "XDP live frames: the driver does not take them{}{} (of a veth pair, the other end "
            "must be up, with an XDP program or with ethtool -K PEER gro on)",
            number < 0 ? ": " : "", number < 0 ? std::strerror(-number) : ""));
    }
    // it was the first of the schedule
    set(kNext, work_.offset + (work_.rate.is_given() ? next_cost() : 0));
    set(kSoonest, 0);
    pace_ = Pace(get(kNext));
    set(kStart, 0);
}

Ticks LiveFrames::next_cost() const
{
    const size_t place = work_.packets.is_generated ? 0 : size_t(get(kVariant));
    return cost_of(work_.rate, wire_bytes(work_.packets.places[place].bytes), work_.threads);
}

// Returns whether a packet is due.
bool LiveFrames::wait_for_schedule()
{
    const Ticks now = since(start_ns_);
    if (now == 0 || pace_.due() > now) {
        sleep_until(start_ns_ + (pace_.due() >> kTickShift) + 1);
        return false;
    }
    pace_.take(now, next_cost());
    set(kGivenUp, pace_.given_up());
    return true;
}

void LiveFrames::run(uint64_t start_ns)
{
    start_ns_ = start_ns;
    set(kStart, work_.rate.is_given() ? start_ns : 0);
    prctl(PR_SET_TIMERSLACK, kTimerSlackNs, 0, 0, 0);
    set(kThread, uint64_t(gettid()));
    while (!is_stopped_ && get(kAccepted) < work_.share) {
        if (is_slow_ && !wait_for_schedule())
            continue;
        const uint64_t left = is_slow_ ? 1 : work_.share - get(kAccepted);
        const uint64_t asked = get(kAsked);
        set(kLimit, left < UINT64_MAX - asked ? asked + left : UINT64_MAX);
        if (is_stopped_) // between the test and the store
            set(kLimit, 0);
        // one that waits inside needs more runs than packets, and a signal to end
        call(is_paced_in_kernel() ? INT_MAX : left);
    }
}

Counts LiveFrames::counts() const
{
    Counts counts;
    const bool is_in_call = is_in_call_; // then the frames of a batch are on their way
    const uint64_t dropped = get(kDropped), lost = lost_before_driver_, asked = get(kAsked);
    counts.packets = get(kAccepted);
    counts.refused = is_in_call ? dropped + lost : asked - counts.packets;
    counts.bytes = work_.packets.is_generated ? counts.packets * wire_bytes(frame_.size())
                   : asked == 0
                       ? 0
                       : uint64_t(double(get(kBytes)) * (double(counts.packets) / double(asked)));
    counts.behind = packets_in(get(kGivenUp), work_);
    const auto number = int32_t(get(kError));
    counts.error = number < 0 ? -number : error_.load();
    return counts;
}
} // namespace

std::vector<std::unique_ptr<Sender>> make_live_frames(const std::vector<Work> &works)
{
    std::vector<std::unique_ptr<Sender>> senders;
    try {
        const std::shared_ptr<SharedArray> data = share_packets(works.front());
        for (const Work &work : works) {
            auto sender = std::make_unique<LiveFrames>(work, data);
            if (senders.empty())
                sender->try_one();
            senders.push_back(std::move(sender));
        }
    } catch (const KernelRefusal &refusal) {
        throw Refusal(std::string("XDP live frames: ") + refusal.what());
    }
    return senders;
}
} // namespace mapi_gen
