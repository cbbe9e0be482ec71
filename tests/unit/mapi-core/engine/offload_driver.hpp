// SPDX-License-Identifier: MIT
// A driver that runs functions on each packet when it arrives, and hands out the packets that
// others need later: as an adapter with a program does.  No filter decides on frames that begin
// with kUndecided.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <mapi/driver.h>
#include <pcap/pcap.h>

namespace test_support
{
using Frame = std::vector<uint8_t>;

// One instance at a time.
class OffloadSource
{
public:
    static constexpr uint8_t kUndecided = 0xff;

    static OffloadSource &instance()
    {
        static OffloadSource source;
        return source;
    }

    void arrive(const Frame &frame)
    {
        const std::lock_guard lock(mutex_);
        if (!active_)
            return;
        ++active_->all.packets;
        active_->all.wire_bytes += frame.size();
        Waiting waiting = {active_, frame, std::vector<uint64_t>(active_->nodes.size()),
                           std::vector<uint64_t>(active_->nodes.size()), ++arrived_};
        uint32_t wanted = active_->all_bytes;
        for (size_t i = 0; i < active_->nodes.size(); ++i) {
            const mapi_offload_node &node = active_->nodes[i];
            const bool is_reached =
                node.is_taken && (node.source == MAPI_OFFLOAD_ALL || waiting.passed[node.source]);
            waiting.undecided[i] =
                is_reached && node.step.kind == MAPI_OFFLOAD_FILTER && frame[0] == kUndecided;
            waiting.passed[i] = is_reached && !waiting.undecided[i] &&
                                passes(node, active_->counts[i].state, frame);
            if (waiting.undecided[i])
                wanted = MAPI_OFFLOAD_WHOLE;
            if (!waiting.passed[i])
                continue;
            ++active_->counts[i].packets;
            active_->counts[i].wire_bytes += frame.size();
            active_->counts[i].state.last_time_ns = waiting.time_ns;
            active_->counts[i].state.last_wire_bytes = frame.size();
            if (node.wants_packets)
                wanted = std::max(wanted, node.wants_bytes ? node.wants_bytes : MAPI_OFFLOAD_WHOLE);
        }
        waiting.frame.resize(std::min<size_t>(frame.size(), wanted));
        waiting.wire_bytes = uint32_t(frame.size());
        if (wanted > 0)
            waiting_.push_back(std::move(waiting));
        changed_.notify_all();
    }
    // Packets stay in the driver until it is called again with false.
    void hold(bool holds)
    {
        const std::lock_guard lock(mutex_);
        holds_ = holds;
    }
    // No program becomes active until it is called again with false.
    void hold_switches(bool holds) { holds_switches_ = holds; }
    // Programs that are prepared from now on have no nodes.
    void refuse_all(bool refuses) { refuses_all_ = refuses; }
    uint64_t arrived() const { return arrived_; } // packets; also the last one's time
    uint32_t last_caplen() const { return last_caplen_; }
    size_t made() const { return made_; }
    size_t programs() const { return made_ - destroyed_; }
    size_t switches() const { return switches_; }

    static const mapi_driver &table()
    {
        static const mapi_driver driver = make_table();
        return driver;
    }

private:
    struct Program {
        std::span<mapi_offload_node> nodes;
        std::vector<mapi_offload_count> counts;
        mapi_offload_count all = {};
        uint32_t all_bytes;
    };
    struct Waiting {
        Program *program;
        Frame frame;
        std::vector<uint64_t> passed, undecided; // by node: 1 or 0
        uint64_t time_ns;
        uint32_t wire_bytes = 0;
    };

    bool passes(const mapi_offload_node &node, mapi_offload_state &state, const Frame &frame)
    {
        const mapi_offload_step &step = node.step;
        if (step.kind == MAPI_OFFLOAD_SAMPLE && step.period > 0)
            return (state.received = ++received_[node.state]) % step.period == 0;
        if (step.kind == MAPI_OFFLOAD_SAMPLE)
            return random_() < step.threshold;
        return step.kind != MAPI_OFFLOAD_FILTER ||
               bpf_filter(reinterpret_cast<const bpf_insn *>(step.code), frame.data(),
                          uint32_t(frame.size()), uint32_t(frame.size())) != 0;
    }
    static OffloadSource &of(void *source) { return *static_cast<OffloadSource *>(source); }

    static int open(const mapi_driver_setup *, void **source, mapi_driver_info *info)
    {
        OffloadSource &self = instance();
        self.waiting_.clear();
        self.active_ = self.previous_ = nullptr;
        self.is_over_ = self.holds_ = self.refuses_all_ = false;
        info->link_type = 1;
        *source = &self;
        return 0;
    }
    static int read(void *source, mapi_packet *packets, uint32_t limit, mapi_batch *batch)
    {
        OffloadSource &self = of(source);
        const std::lock_guard lock(self.mutex_);
        if (self.is_over_)
            return 0;
        const Program *const program = self.previous_ ? self.previous_ : self.active_;
        self.read_.clear();
        self.passed_.assign(program ? program->nodes.size() : 0, 0);
        self.undecided_ = self.passed_;
        while (self.read_.size() < limit && !self.holds_ && !self.waiting_.empty() &&
               self.waiting_.front().program == program) {
            self.read_.push_back(std::move(self.waiting_.front()));
            self.waiting_.pop_front();
        }
        if (self.read_.empty())
            return MAPI_DRIVER_IDLE;
        for (size_t at = 0; at < self.read_.size(); ++at) {
            const Waiting &one = self.read_[at];
            packets[at] = {};
            packets[at].data = one.frame.data();
            packets[at].caplen = uint32_t(one.frame.size());
            packets[at].wire_len = one.wire_bytes;
            self.last_caplen_ = packets[at].caplen;
            packets[at].timestamp_ns = one.time_ns;
            packets[at].link_type = 1;
            for (size_t node = 0; node < one.passed.size(); ++node) {
                self.passed_[node] |= one.passed[node] << at;
                self.undecided_[node] |= one.undecided[node] << at;
            }
        }
        mapi_batch_fill(batch, packets, uint32_t(self.read_.size()));
        const bool has_decided = std::ranges::all_of(self.undecided_, std::logical_not<uint64_t>());
        self.verdicts_ = {self.passed_.data(), has_decided ? nullptr : self.undecided_.data()};
        batch->offloaded = &self.verdicts_;
        return int(self.read_.size());
    }
    static int wait(void *source)
    {
        OffloadSource &self = of(source);
        std::unique_lock lock(self.mutex_);
        self.changed_.wait_for(lock, std::chrono::milliseconds(5));
        return !self.waiting_.empty() && !self.holds_;
    }
    static void interrupt(void *source)
    {
        const std::lock_guard lock(of(source).mutex_);
        of(source).is_over_ = true;
    }

    static void *prepare(void *source, mapi_offload_node *nodes, uint32_t count, uint32_t all_bytes)
    {
        auto program = std::make_unique<Program>();
        program->nodes = {nodes, count};
        program->counts.resize(count);
        program->all_bytes = all_bytes;
        for (mapi_offload_node &node : program->nodes)
            node.is_taken = !of(source).refuses_all_;
        if (of(source).refuses_all_)
            program->all_bytes = MAPI_OFFLOAD_WHOLE;
        ++of(source).made_;
        return program.release();
    }
    static void destroy(void *source, void *program)
    {
        OffloadSource &self = of(source);
        const std::lock_guard lock(self.mutex_);
        if (self.active_ == program)
            self.active_ = nullptr;
        ++self.destroyed_;
        delete static_cast<Program *>(program);
    }
    static void activate(void *source, void *program)
    {
        while (of(source).holds_switches_)
            std::this_thread::yield();
        const std::lock_guard lock(of(source).mutex_);
        of(source).previous_ = of(source).active_;
        of(source).active_ = static_cast<Program *>(program);
        if (!program)
            of(source).previous_ = nullptr;
        ++of(source).switches_;
    }
    static int has_switched(void *source)
    {
        OffloadSource &self = of(source);
        const std::lock_guard lock(self.mutex_);
        if (self.previous_ && !self.waiting_.empty() &&
            self.waiting_.front().program == self.previous_)
            return 0;
        self.previous_ = nullptr;
        return 1;
    }
    static void count(void *source, void *program, mapi_offload_count *counts)
    {
        const std::lock_guard lock(of(source).mutex_);
        const Program &its = *static_cast<const Program *>(program);
        std::copy(its.counts.begin(), its.counts.end(), counts);
        counts[its.counts.size()] = its.all;
    }

    static mapi_driver make_table()
    {
        static const mapi_driver_live live = {sizeof(live), nullptr, wait};
        static const mapi_driver_offload offload = {
            sizeof(offload), "adapter", prepare, destroy, activate, has_switched, count, nullptr};
        mapi_driver table = {};
        table.abi = MAPI_DRIVER_ABI;
        table.struct_size = sizeof(mapi_driver);
        table.name = "offload";
        table.description = "";
        table.open = open;
        table.read = read;
        table.close = [](void *) {};
        table.interrupt = interrupt;
        table.live = &live;
        table.offload = &offload;
        return table;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Waiting> waiting_;
    std::vector<Waiting> read_;
    std::vector<uint64_t> passed_, undecided_;
    mapi_offloaded verdicts_ = {};
    Program *active_ = nullptr;
    Program *previous_ = nullptr;
    bool is_over_ = false;
    bool holds_ = false;
    std::atomic<bool> holds_switches_ = false;
    std::atomic<bool> refuses_all_ = false;
    uint64_t arrived_ = 0;
    std::atomic<uint32_t> last_caplen_ = 0;
    std::map<uint64_t, uint64_t> received_; // by the number of a state
    std::mt19937 random_;
    std::atomic<size_t> made_ = 0, destroyed_ = 0, switches_ = 0;
};
} // namespace test_support
