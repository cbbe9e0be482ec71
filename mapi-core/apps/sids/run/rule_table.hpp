// SPDX-License-Identifier: MIT
// Rule table: rules -> their flows and counts; a new set of rules in the place of another one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "copy_folder.hpp"
#include "rule_flow.hpp"
#include "sids/language/rule.hpp"
#include "sids/language/rule_set.hpp"

namespace sids
{
struct Entry {
    Rule rule;
    std::unique_ptr<RuleFlow> flow; // null: it was closed; its counts remain
    bool is_removed = false;        // a reload of the rules closed it
    Counts counts;
    std::string alert_json; // the part of alerts that is the same in all
};

using Entries = std::vector<std::unique_ptr<Entry>>;

struct Change {
    size_t kept = 0, added = 0, removed = 0;
};

class RuleTable
{
public:
    // copies: for rules with copy.  buffer_bytes 0: by the number of rules.
    RuleTable(FlowSettings settings, CopyFolder &copies)
        : settings_(std::move(settings)), copies_(copies)
    {
    }

    // Connects the rules that are new in one step; rules that stay keep their flow.  Then `finish`
    // is called with each other rule, before the first of their flows is closed.  With errors, or
    // if it throws (MapiError, CopyError, or what finish throws), nothing has changed.
    using Finish = std::function<void(Entry &)>;
    Change replace(std::vector<Rule> rules, RuleErrors &errors, const Finish &finish);
    // Throws MapiError; then some counts are those of the look before.
    void look();

    // In the order of the rules; removed ones last.
    const Entries &entries() const { return entries_; }
    // Of mapi_get_device_info().
    int device() const { return device_; }
    Losses losses() const;
    void close();

private:
    using Replaced = std::unordered_map<uint32_t, Entry *>; // by id

    void add(Entries &added, const Rule &rule, RuleErrors &errors);
    void connect(const Entries &added);
    static void close(const Entries &entries);
    static void finish_all(const Replaced &removed, const Finish &finish, Losses &losses);
    void put_in_order(const std::vector<Entry *> &order, Entries &added);

    FlowSettings settings_;
    CopyFolder &copies_;
    uint64_t buffer_bytes_ = 0; // of a rule, if the settings leave it open
    Entries entries_;
    int device_ = 0;
    Losses losses_of_removed_;
};
} // namespace sids
