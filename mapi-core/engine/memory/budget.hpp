// SPDX-License-Identifier: MIT
// Budget: a limit of one client or of all clients of one user, such as bytes of memory, and how
// much of it is used.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace mapi::engine
{
// Any thread.
class Budget
{
public:
    static constexpr uint64_t kUnlimited = UINT64_MAX;

    // name: the option that sets the limit.  owner: whose limit it is.  Both are for messages.  All
    // charges also go to `parent`.
    explicit Budget(uint64_t most = kUnlimited, std::string name = "", std::string owner = "the client", std::shared_ptr<Budget> parent = {})
        : most_(most), name_(std::move(name)), owner_(std::move(owner)), parent_(std::move(parent))
    {
    }
    Budget(const Budget &) = delete;
    Budget &operator=(const Budget &) = delete;

    // False if less is left; then nothing is taken.
    bool take(uint64_t amount);
    void give_back(uint64_t amount);
    // The exhausted budget: this one, or its parent.
    const Budget &short_of(uint64_t amount) const;
    uint64_t used() const { return used_.load(std::memory_order_relaxed); }
    uint64_t most() const { return most_; }
    const std::string &name() const { return name_; }
    const std::string &owner() const { return owner_; }
    // May be null.
    const std::shared_ptr<Budget> &parent() const { return parent_; }

private:
    bool take_own(uint64_t amount);

    const uint64_t most_;
    const std::string name_;
    const std::string owner_;
    const std::shared_ptr<Budget> parent_;
    std::atomic<uint64_t> used_ = 0;
};

// One holder's share of a budget, given back on destruction.  Not thread-safe.
class Charge
{
public:
    Charge() = default; // of no budget: add() fails
    explicit Charge(std::shared_ptr<Budget> budget) : budget_(std::move(budget)) {}
    ~Charge()
    {
        if (budget_)
            budget_->give_back(amount_);
    }
    Charge(Charge &&other) noexcept : budget_(std::move(other.budget_)), amount_(std::exchange(other.amount_, 0)) {}
    Charge &operator=(Charge &&other) noexcept
    {
        std::swap(budget_, other.budget_);
        std::swap(amount_, other.amount_);
        return *this;
    }

    // False if less is left.
    bool add(uint64_t amount)
    {
        if (!budget_ || !budget_->take(amount))
            return false;
        amount_ += amount;
        return true;
    }
    // Takes over the share of another charge to the same budget.
    void take_over(Charge &&other) { amount_ += std::exchange(other.amount_, 0); }
    uint64_t amount() const { return amount_; }

private:
    std::shared_ptr<Budget> budget_;
    uint64_t amount_ = 0;
};
} // namespace mapi::engine
