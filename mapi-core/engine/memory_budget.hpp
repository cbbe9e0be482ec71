// SPDX-License-Identifier: MIT
// Memory budget: bytes that the functions of one client may hold at most, and who holds how many of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace mapi::engine
{
// What is counted is what could be needed, before it is taken: a packet never finds that there is no more.
class MemoryBudget
{
public:
    static constexpr uint64_t kUnlimited = UINT64_MAX;

    // name: of the limit, for who may raise it.
    explicit MemoryBudget(uint64_t most_bytes = kUnlimited, std::string name = "") : most_bytes_(most_bytes), name_(std::move(name)) {}
    MemoryBudget(const MemoryBudget &) = delete;
    MemoryBudget &operator=(const MemoryBudget &) = delete;

    // Any thread.  False: there is not so much left, and nothing is taken.
    bool take(uint64_t bytes);
    void give_back(uint64_t bytes) { used_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
    uint64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
    uint64_t most_bytes() const { return most_bytes_; }
    const std::string &name() const { return name_; }

private:
    const uint64_t most_bytes_;
    const std::string name_;
    std::atomic<uint64_t> used_bytes_ = 0;
};

// What one holder has of a budget; given back with it.  One thread.
class MemoryCharge
{
public:
    MemoryCharge() = default;
    explicit MemoryCharge(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}
    ~MemoryCharge()
    {
        if (budget_)
            budget_->give_back(bytes_);
    }
    MemoryCharge(MemoryCharge &&other) noexcept : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
    MemoryCharge &operator=(MemoryCharge &&other) noexcept
    {
        std::swap(budget_, other.budget_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    // False: as the budget says.
    bool add(uint64_t bytes)
    {
        if (!budget_->take(bytes))
            return false;
        bytes_ += bytes;
        return true;
    }
    uint64_t bytes() const { return bytes_; }

private:
    std::shared_ptr<MemoryBudget> budget_;
    uint64_t bytes_ = 0;
};
} // namespace mapi::engine
