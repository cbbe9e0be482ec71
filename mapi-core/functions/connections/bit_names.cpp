// SPDX-License-Identifier: MIT
#include "functions/connections/bit_names.hpp"

#include <utility>

namespace mapi::connections
{
BitNames::Bit BitNames::bit_of(const std::string &name)
{
    uint32_t number = 0;
    {
        const std::lock_guard lock(mutex_);
        auto known = bits_.find(name);
        if (known == bits_.end()) {
            if (bits_.size() == kBitsMax)
                return {};
            known = bits_.emplace(name, Known{}).first;
            known->second.number = take_number();
        }
        ++known->second.holds;
        number = known->second.number;
    }
    return {number, {this, [this, name](const void *) { release_bit(name); }}};
}

BitNames::GroupUse BitNames::group_of(const std::string &name)
{
    BitGroup *group = nullptr;
    {
        const std::lock_guard lock(mutex_);
        if (groups_.size() == kBitsMax && !groups_.contains(name))
            return {};
        KnownGroup &known = groups_[name];
        ++known.holds;
        group = &known.group;
    }
    return {group, {this, [this, name](const void *) { release_group(name); }}};
}

std::array<uint64_t, kBitWords> BitNames::take_reused()
{
    const std::lock_guard lock(mutex_);
    has_reused_.store(false, std::memory_order_relaxed);
    return std::exchange(reused_, {});
}

void BitNames::release_bit(const std::string &name)
{
    const std::lock_guard lock(mutex_);
    const auto known = bits_.find(name);
    if (--known->second.holds > 0)
        return;
    const uint32_t number = known->second.number;
    for (auto &[group_name, each] : groups_)
        each.group.words[number / 64] &= ~(uint64_t(1) << number % 64);
    taken_.reset(number);
    bits_.erase(known);
}

void BitNames::release_group(const std::string &name)
{
    const std::lock_guard lock(mutex_);
    const auto known = groups_.find(name);
    if (--known->second.holds == 0)
        groups_.erase(known);
}

// Under the lock, with a number left.
uint32_t BitNames::take_number()
{
    uint32_t number = 0;
    while (taken_.test(number))
        ++number;
    taken_.set(number);
    if (ever_taken_.test(number)) {
        reused_[number / 64] |= uint64_t(1) << number % 64;
        has_reused_.store(true, std::memory_order_release);
    }
    ever_taken_.set(number);
    return number;
}
} // namespace mapi::connections
