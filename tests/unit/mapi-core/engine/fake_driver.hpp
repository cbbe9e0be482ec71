// SPDX-License-Identifier: MIT
// Fake driver: returns as many packets as a test asks for, when it asks.
#pragma once

#include <condition_variable>
#include <mutex>

#include <mapi/driver.h>

namespace test_support
{
// What a driver with its own thread may do: run the prefilter on each batch, or attach the result
// of the previous batch.
enum class Prefiltering { kNone, kEach, kOld };

// One instance at a time. Packet i has i & 1 as its only byte and wire length 100.
class FakeSource
{
public:
    static FakeSource &instance()
    {
        static FakeSource source;
        return source;
    }

    // Gives one batch and does not wait.
    void ask(uint32_t count)
    {
        const std::lock_guard lock(mutex_);
        wanted_ = count;
        changed_.notify_all();
    }
    // Gives one batch and returns when the engine is done with it.
    void give(uint32_t count)
    {
        ask(count);
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return wanted_ == 0 && waiting_; });
    }
    // Until the source is opened again.
    void prefilter(Prefiltering prefiltering)
    {
        const std::lock_guard lock(mutex_);
        prefiltering_ = prefiltering;
    }
    void finish()
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        changed_.notify_all();
    }
    // Returns when the engine waits in read().
    void wait_until_idle()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return waiting_; });
    }

    static const mapi_driver &table(uint32_t device_flags)
    {
        flags() = device_flags;
        static const mapi_driver driver = make_table();
        return driver;
    }

private:
    static mapi_driver make_table()
    {
        mapi_driver table = {};
        table.abi = MAPI_DRIVER_ABI;
        table.struct_size = sizeof(mapi_driver);
        table.name = "fake";
        table.description = "";
        table.open = open;
        table.read = read;
        table.stats = stats;
        table.interrupt = interrupt;
        table.close = close;
        static const mapi_driver_filter filter = {sizeof(filter), nullptr, set_prefilter};
        table.filter = &filter;
        return table;
    }
    static uint32_t &flags()
    {
        static uint32_t value;
        return value;
    }
    static int open(const mapi_driver_setup *, void **source, mapi_driver_info *info)
    {
        FakeSource &self = instance();
        self.ended_ = self.waiting_ = false;
        self.wanted_ = 0;
        self.prefiltering_ = Prefiltering::kNone;
        info->device_flags = flags();
        info->link_type = 1;
        *source = &self;
        return 0;
    }
    static int read(void *source, mapi_packet *packets, uint32_t limit, mapi_batch *batch)
    {
        static const uint8_t bytes[2] = {0, 1};
        FakeSource &self = *static_cast<FakeSource *>(source);
        std::unique_lock lock(self.mutex_);
        self.waiting_ = true;
        self.changed_.notify_all();
        self.changed_.wait(lock, [&] { return self.wanted_ > 0 || self.ended_; });
        self.waiting_ = false;
        if (self.ended_)
            return 0;
        const uint32_t count = self.wanted_ < limit ? self.wanted_ : limit;
        for (uint32_t i = 0; i < count; ++i)
            packets[i] = {&bytes[i & 1], 1, 100, 0, 1, 0, 0};
        mapi_batch_fill(batch, packets, count);
        if (self.prefiltering_ == Prefiltering::kEach && self.prefilter_)
            self.prefilter_->run(self.prefilter_, batch, &self.prefiltered_);
        if (self.prefiltering_ != Prefiltering::kNone)
            batch->prefiltered = &self.prefiltered_;
        self.wanted_ = 0;
        return int(count);
    }
    static void set_prefilter(void *source, const mapi_prefilter *prefilter)
    {
        FakeSource &self = *static_cast<FakeSource *>(source);
        const std::lock_guard lock(self.mutex_);
        self.prefilter_ = prefilter;
    }
    static void stats(void *, mapi_driver_stats *) {}
    static void interrupt(void *source) { static_cast<FakeSource *>(source)->finish(); }
    static void close(void *) {}

    std::mutex mutex_;
    std::condition_variable changed_;
    uint32_t wanted_ = 0;
    bool waiting_ = false;
    bool ended_ = false;
    Prefiltering prefiltering_ = Prefiltering::kNone;
    const mapi_prefilter *prefilter_ = nullptr;
    mapi_prefiltered prefiltered_ = {};
};
} // namespace test_support
