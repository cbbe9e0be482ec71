// SPDX-License-Identifier: MIT
// storing: batches, written again until the store has them.
#include "qos/collect/storing.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace qos
{
namespace
{
constexpr size_t kMostFlows = 1 << 18; // that are remembered; a forgotten one gets a new number
constexpr std::chrono::milliseconds kFirstPause(200), kLongestPause(5000);
} // namespace

Storing::Storing(Open open, Run run, Tell tell)
    : open_(std::move(open)), tell_(std::move(tell)), store_(open_()), run_(std::move(run))
{
}

int64_t Storing::number_of(const FlowKey &key)
{
    const auto found = flows_.find(key);
    if (found != flows_.end())
        return found->second;
    if (flows_.size() >= kMostFlows)
        flows_.clear();
    const int64_t number = next_flow_++;
    flows_.emplace(key, number);
    batch_.flows.push_back({number, key});
    return number;
}

void Storing::add(const std::vector<SelectedPacket> &packets)
{
    for (const SelectedPacket &packet : packets)
        batch_.packets.push_back({packet, number_of(packet.flow)});
}

bool Storing::write()
{
    const auto now = Clock::now();
    if (is_away_ && now < next_attempt_)
        return false;
    try {
        if (!store_)
            store_ = open_();
        store_->write(run_, batch_);
    } catch (const StoreAway &away) {
        store_.reset();
        note_away(away.what());
        return false;
    }
    batch_.first_number += int64_t(batch_.packets.size());
    batch_.packets.clear();
    batch_.flows.clear();
    if (is_away_)
        tell_(fmt::format("the store is back after {} s",
                          std::chrono::duration_cast<std::chrono::seconds>(away_for()).count()));
    is_away_ = false;
    return true;
}

void Storing::note_away(const std::string &why)
{
    const auto now = Clock::now();
    if (!is_away_) {
        is_away_ = true;
        away_since_ = now;
        pause_ = kFirstPause;
        tell_(fmt::format("the store is away, packets are buffered: {}", why));
    } else {
        pause_ = std::min(2 * pause_, kLongestPause);
    }
    why_away_ = why;
    next_attempt_ = now + pause_;
}

std::chrono::milliseconds Storing::away_for() const
{
    return is_away_
               ? std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - away_since_)
               : std::chrono::milliseconds(0);
}
} // namespace qos
