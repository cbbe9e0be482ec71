// SPDX-License-Identifier: MIT
// analyse: threads and the CPUs on which they wrote -> did each of them stay on one?
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace nsdump
{
// Shared by the parts that read one CPU each; all members may be called at the same time.
class ThreadOwners
{
public:
    static constexpr size_t kMaxThreads = 65536;

    // True while no thread was seen on two CPUs.
    bool are_apart() const { return !is_shared_.load(std::memory_order_relaxed); }
    void give_up() { is_shared_.store(true, std::memory_order_relaxed); }

    void note(uint32_t thread_id, uint32_t cpu_index)
    {
        const std::lock_guard lock(mutex_);
        const auto [owner, is_new] = cpu_of_.emplace(thread_id, cpu_index);
        if (owner->second != cpu_index || cpu_of_.size() > kMaxThreads)
            give_up();
    }

private:
    std::mutex mutex_;
    std::unordered_map<uint32_t, uint32_t> cpu_of_;
    std::atomic<bool> is_shared_ = false;
};

// Of one CPU: reports each thread to the owners once.
class ThreadsOfCpu
{
public:
    ThreadsOfCpu(ThreadOwners &owners, uint32_t cpu_index) : owners_(owners), cpu_index_(cpu_index)
    {
    }

    void note(uint32_t thread_id)
    {
        if (thread_id != last_ || seen_.empty()) [[unlikely]]
            note_other(thread_id);
    }

private:
    void note_other(uint32_t thread_id)
    {
        last_ = thread_id;
        if (seen_.insert(thread_id).second)
            owners_.note(thread_id, cpu_index_);
    }

    ThreadOwners &owners_;
    uint32_t cpu_index_;
    uint32_t last_ = 0;
    std::unordered_set<uint32_t> seen_;
};
} // namespace nsdump
