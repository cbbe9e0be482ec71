// SPDX-License-Identifier: MIT
#include "rule_table.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "captures/source.hpp"
#include "sids/language/option.hpp"

namespace sids
{
namespace
{
// Of the packets that wait for being printed: together, and of one rule.
constexpr uint64_t kAllBuffersBytes = uint64_t{1} << 27;
constexpr uint64_t kBufferLeastBytes = uint64_t{1} << 13, kBufferMostBytes = uint64_t{1} << 20;

uint64_t buffer_bytes_for(size_t rules)
{
    return std::bit_floor(std::clamp(kAllBuffersBytes / std::max<size_t>(rules, 1),
                                     kBufferLeastBytes, kBufferMostBytes));
}
} // namespace

void RuleTable::add(Entries &added, const Rule &rule, RuleErrors &errors)
{
    FlowSettings settings = settings_;
    if (settings.buffer_bytes == 0) // a copied packet waits with all its bytes
        settings.buffer_bytes = rule.is_copy ? kBufferMostBytes : buffer_bytes_;
    auto entry = std::make_unique<Entry>();
    entry->rule = rule;
    try {
        entry->flow = std::make_unique<RuleFlow>(
            entry->rule, settings, entry->rule.is_copy ? copies_.create(entry->rule.id) : "");
        added.push_back(std::move(entry));
    } catch (const PlacedError &error) {
        errors.add({entry->rule.line, error.offset(), error.what()});
    }
}

void RuleTable::connect(const Entries &added)
{
    std::vector<int> flows;
    for (const auto &entry : added)
        flows.push_back(entry->flow->descriptor());
    if (flows.empty())
        return;
    mapi_flow_info_t about = {}; // later the call would wait for further packets of the flow
    if (mapi_get_flow_info(flows.front(), &about) < 0 ||
        mapi_connect_flows(flows.data(), int(flows.size())) < 0)
        captures_source::throw_last_error();
    device_ = about.devid;
}

Change RuleTable::replace(std::vector<Rule> rules, RuleErrors &errors, const Finish &finish)
{
    buffer_bytes_ = buffer_bytes_for(rules.size());
    Replaced old;
    for (const auto &entry : entries_) {
        if (!entry->is_removed)
            old.emplace(entry->rule.id, entry.get());
    }
    Entries added;
    std::vector<Entry *> order; // of the new table; null: the next added one
    Losses losses = losses_of_removed_;
    try {
        for (Rule &rule : rules) {
            const auto same = old.find(rule.id);
            if (same != old.end() && same->second->rule.finds_the_same(rule)) {
                order.push_back(same->second);
                old.erase(same);
                continue;
            }
            order.push_back(nullptr);
            add(added, rule, errors);
        }
        if (errors.are_none()) {
            connect(added);
            finish_all(old, finish, losses);
        }
    } catch (...) {
        close(added);
        copies_.remove_made();
        throw;
    }
    if (!errors.are_none()) {
        close(added);
        copies_.remove_made();
        return {};
    }
    copies_.keep_made();
    losses_of_removed_ = losses;
    for (size_t i = 0; i < rules.size(); ++i) {
        if (!order[i])
            continue;
        order[i]->rule = std::move(rules[i]); // its message may have changed
        order[i]->alert_json.clear();
    }
    std::vector<RuleFlow *> removed;
    for (const auto &[id, entry] : old) {
        entry->is_removed = true;
        removed.push_back(entry->flow.get());
    }
    RuleFlow::close(removed);
    for (const auto &[id, entry] : old)
        entry->flow.reset();
    const Change change = {order.size() - added.size(), added.size(), old.size()};
    put_in_order(order, added);
    return change;
}

// Nothing has been closed if this throws.
void RuleTable::finish_all(const Replaced &removed, const Finish &finish, Losses &losses)
{
    for (const auto &[id, entry] : removed) {
        finish(*entry);
        entry->flow->add_losses(losses);
    }
}

void RuleTable::put_in_order(const std::vector<Entry *> &order, Entries &added)
{
    std::unordered_map<const Entry *, std::unique_ptr<Entry>> kept;
    Entries removed;
    for (auto &entry : entries_) {
        if (entry->is_removed)
            removed.push_back(std::move(entry));
        else
            kept.emplace(entry.get(), std::move(entry));
    }
    entries_.clear();
    size_t next = 0;
    for (const Entry *entry : order)
        entries_.push_back(std::move(entry ? kept.at(entry) : added[next++]));
    std::move(removed.begin(), removed.end(), std::back_inserter(entries_));
}

void RuleTable::look()
{
    for (const auto &entry : entries_) {
        if (entry->flow)
            entry->flow->look(entry->counts);
    }
}

Losses RuleTable::losses() const
{
    Losses losses = losses_of_removed_;
    for (const auto &entry : entries_) {
        if (entry->flow)
            entry->flow->add_losses(losses);
    }
    return losses;
}

void RuleTable::close()
{
    close(entries_);
}

void RuleTable::close(const Entries &entries)
{
    std::vector<RuleFlow *> flows;
    for (const auto &entry : entries)
        flows.push_back(entry->flow.get());
    RuleFlow::close(flows);
    for (const auto &entry : entries)
        entry->flow.reset();
}
} // namespace sids
