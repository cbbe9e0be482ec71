// SPDX-License-Identifier: MIT
// analyse: a trace whose threads stay on their CPUs -> all CPUs at the same time.
#include "analyse/by_cpu/by_cpu.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace nsdump
{
namespace
{
constexpr auto kProgressInterval = std::chrono::milliseconds(50);

// CPUs that may be read before those in front of them were merged: a part takes some 90 KB, and a
// trace may have one large CPU and 8191 small ones.
constexpr size_t kMostAhead = 256;

// With more threads beside the calling one, none looks ahead: measured were one and two.
constexpr size_t kMostHelpersAhead = 1;

// Hands out CPUs to threads, and merges their parts in the order of the CPUs.
class Readers
{
public:
    Readers(const TraceFile &trace, const Correction &correction, const ByCpuOptions &options)
        : correction_(correction), options_(options),
          helpers_(std::clamp<size_t>(options.threads, 1, trace.cpus().size()) - 1),
          reading_{trace, owners_}, parts_(trace.cpus().size())
    {
        for (const CpuChunks &chunks : trace.cpus())
            records_ += chunks.records;
    }

    std::unique_ptr<CpuPart> read(bool &is_interrupted)
    {
        tell_progress(); // at least once: the other threads may be faster than this one
        std::vector<std::jthread> helpers;
        try {
            for (size_t i = 0; i < helpers_; ++i)
                helpers.emplace_back([this] { work(false); });
        } catch (const std::system_error &) { // no more threads: the figures are the same
        }
        work(true);
        wait();
        helpers.clear(); // joins
        if (failure_)
            std::rethrow_exception(failure_);
        is_interrupted = is_interrupted_;
        return owners_.are_apart() ? std::move(sum_) : nullptr;
    }

private:
    void work(bool tells_progress)
    {
        FasterWay ahead;
        for (uint32_t cpu = next_++; cpu < parts_.size(); cpu = next_++) {
            wait_for_turn(cpu, tells_progress);
            std::unique_ptr<CpuPart> part;
            try {
                part = std::make_unique<CpuPart>(correction_, reading_.trace.counter_names().size(),
                                                 options_.is_stepping);
                read_cpu(
                    reading_, cpu, helpers_ <= kMostHelpersAhead ? &ahead : nullptr,
                    [&](uint64_t records) { return continues(records, tells_progress); }, *part);
                part->statistics.finish(); // takes less memory while it waits for those before it
            } catch (...) {
                const std::lock_guard lock(mutex_);
                fail();
            }
            take(cpu, std::move(part));
        }
    }
    // The thread that reads the first CPU that was not merged never waits.
    void wait_for_turn(uint32_t cpu, bool tells_progress)
    {
        std::unique_lock lock(mutex_);
        const auto may_begin = [&] {
            return cpu < merged_ + kMostAhead || failure_ || is_interrupted_ ||
                   !owners_.are_apart();
        };
        while (!has_ended_.wait_for(lock, kProgressInterval, may_begin)) {
            lock.unlock();
            if (tells_progress)
                tell_progress();
            lock.lock();
        }
    }
    // With the lock, in a handler: ends all others.
    void fail()
    {
        failure_ = std::current_exception();
        owners_.give_up();
    }
    bool continues(uint64_t records, bool tells_progress)
    {
        done_ += records;
        return !is_interrupted_ && (!tells_progress || tell_progress());
    }
    bool tell_progress()
    {
        if (is_interrupted_)
            return false;
        const auto now = std::chrono::steady_clock::now();
        if (!options_.progress || now - shown_ < kProgressInterval)
            return true;
        shown_ = now;
        const uint64_t bytes = reading_.trace.source().size_bytes();
        const double share = records_ > 0 ? double(done_) / double(records_) : 1;
        if (options_.progress(uint64_t(std::min(share, 1.0) * double(bytes)), bytes))
            return true;
        is_interrupted_ = true;
        return false;
    }
    void take(uint32_t cpu, std::unique_ptr<CpuPart> part)
    {
        const std::lock_guard lock(mutex_);
        try {
            parts_[cpu] = std::move(part);
            for (; merged_ < parts_.size() && parts_[merged_] && !failure_; ++merged_) {
                if (sum_)
                    sum_->merge(std::move(*parts_[merged_]));
                else
                    sum_ = std::move(parts_[merged_]);
                parts_[merged_].reset();
            }
        } catch (...) {
            fail();
        }
        ++ended_;
        has_ended_.notify_all();
    }
    // Until all parts were read; meanwhile shows the progress of the other threads.
    void wait()
    {
        std::unique_lock lock(mutex_);
        while (!has_ended_.wait_for(lock, kProgressInterval,
                                    [&] { return ended_ == parts_.size(); })) {
            lock.unlock();
            tell_progress();
            lock.lock();
        }
    }

    const Correction &correction_;
    const ByCpuOptions &options_;
    const size_t helpers_; // threads beside the calling one
    ThreadOwners owners_;
    const CpuReading reading_;
    uint64_t records_ = 0;           // as declared
    std::atomic<uint64_t> done_ = 0; // records
    std::atomic<uint32_t> next_ = 0; // the next CPU to read
    std::atomic<bool> is_interrupted_ = false;
    std::chrono::steady_clock::time_point shown_{};
    std::mutex mutex_;                            // of the following
    std::condition_variable has_ended_;           // a part
    size_t ended_ = 0;                            // parts that were read, or failed
    std::vector<std::unique_ptr<CpuPart>> parts_; // read and not yet merged
    size_t merged_ = 0;
    std::unique_ptr<CpuPart> sum_;
    std::exception_ptr failure_;
};

bool can_be_apart(const TraceFile &trace)
{
    const auto with_records =
        std::ranges::count_if(trace.cpus(), [](const CpuChunks &one) { return one.records > 0; });
    const bool has_pauses = std::ranges::any_of(
        trace.cpus(), [](const CpuChunks &one) { return one.left_out_before > 0; });
    return with_records > 0 && trace.format().has_records_in_place && !has_pauses &&
           !trace.has_kernel() && trace.epochs().empty() &&
           trace.names().size() <= kMaxTalliedNames;
}
} // namespace

std::unique_ptr<CpuPart> read_by_cpu(const TraceFile &trace, const Correction &correction,
                                     const ByCpuOptions &options, bool &is_interrupted)
{
    if (!can_be_apart(trace))
        return nullptr;
    return Readers(trace, correction, options).read(is_interrupted);
}
} // namespace nsdump
