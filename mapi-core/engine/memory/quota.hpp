// SPDX-License-Identifier: MIT
// Quota: a limit of one client or of all clients of one user, such as bytes of memory, and how
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
class Quota
{
public:
    static constexpr uint64_t kUnlimited = UINT64_MAX;

    // name: the option that sets the limit.  owner: whose limit it is.  Both are for messages.  All
    // charges also go to `parent`.
    explicit Quota(uint64_t most = kUnlimited, std::string name = "",
                   std::string owner = "the client", std::shared_ptr<Quota> parent = {})
        : most_(most), name_(std::move(name)), owner_(std::move(owner)), parent_(std::move(parent))
    {
    }
    Quota(const Quota &) = delete;
    Quota &operator=(const Quota &) = delete;

    // False if less is left; then nothing is taken.
    bool take(uint64_t amount);
    void give_back(uint64_t amount);
    // The exhausted quota: this one, or its parent.
    const Quota &short_of(uint64_t amount) const;
    uint64_t used() const { return used_.load(std::memory_order_relaxed); }
    uint64_t most() const { return most_; }
    const std::string &name() const { return name_; }
    const std::string &owner() const { return owner_; }
    // May be null.
    const std::shared_ptr<Quota> &parent() const { return parent_; }

private:
    bool take_own(uint64_t amount);

    const uint64_t most_;
    const std::string name_;
    const std::string owner_;
    const std::shared_ptr<Quota> parent_;
    std::atomic<uint64_t> used_ = 0;
};

// One holder's share of a quota, given back on destruction.  Not thread-safe.
class QuotaUse
{
public:
    QuotaUse() = default; // of no quota: add() fails
    explicit QuotaUse(std::shared_ptr<Quota> quota) : quota_(std::move(quota)) {}
    ~QuotaUse()
    {
        if (quota_)
            quota_->give_back(amount_);
    }
    QuotaUse(QuotaUse &&other) noexcept
        : quota_(std::move(other.quota_)), amount_(std::exchange(other.amount_, 0))
    {
    }
    QuotaUse &operator=(QuotaUse &&other) noexcept
    {
        std::swap(quota_, other.quota_);
        std::swap(amount_, other.amount_);
        return *this;
    }

    // False if less is left.
    bool add(uint64_t amount)
    {
        if (!quota_ || !quota_->take(amount))
            return false;
        amount_ += amount;
        return true;
    }
    // Takes over the share of another charge to the same quota.
    void take_over(QuotaUse &&other) { amount_ += std::exchange(other.amount_, 0); }
    uint64_t amount() const { return amount_; }

private:
    std::shared_ptr<Quota> quota_;
    uint64_t amount_ = 0;
};
} // namespace mapi::engine
