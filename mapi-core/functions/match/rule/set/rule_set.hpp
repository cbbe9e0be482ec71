// SPDX-License-Identifier: MIT
// Rule set: packets, and for each the rules that it is examined for -> which rules it matches.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <mapi/batch.h>
#include <mapi/function_parts.h>

#include "match/rule/evaluation.hpp"
#include "match/rule/packet_texts.hpp"
#include "match/rule/set/literal_scan.hpp"

namespace mapi::match::rule
{
// Packets of one rule; any thread may read them.
struct RuleCounts {
    std::atomic<uint64_t> given_up = 0; // undecided
    std::atomic<uint64_t> unread_headers = 0, unread_link_types = 0;

    void note(const PacketFields &fields)
    {
        if (fields.unread() == PacketFields::Unread::kHeaders)
            unread_headers.fetch_add(1, std::memory_order_relaxed);
        else if (fields.unread() == PacketFields::Unread::kLinkType)
            unread_link_types.fetch_add(1, std::memory_order_relaxed);
    }
    void note_given_up() { given_up.fetch_add(1, std::memory_order_relaxed); }
};

// Rules that the same packets are examined for make a scope, which searches a payload once for a
// literal of each.  Scopes are made when their first packet comes; most traffic has few.
//
// Not thread-safe.
class RuleSet
{
public:
    struct Listed {
        const Rule *rule;
        RuleCounts *counts;
    };

    // The rules must outlive it.
    explicit RuleSet(std::vector<Listed> rules);

    // Each rule at most once, by its index in the list.  Valid until the next call.
    std::span<const mapi_group_passed> find(const mapi_batch &batch,
                                            const mapi_group_inputs &inputs);
    // The same with all packets of the mask for all rules.
    std::span<const mapi_group_passed> find(const mapi_batch &batch, uint64_t mask);

private:
    struct Scope {
        std::vector<uint32_t> all;
        std::vector<uint32_t> any, with_payload, with_http; // rules without a literal
        LiteralScan in_payload{{}}, in_http{{}};
        bool has_http = false;
        uint64_t memory_bytes = 0;
    };

    std::unique_ptr<Scope> make_scope(std::span<const uint32_t> rules) const;
    void begin_plan(const mapi_group_inputs &inputs);
    const Scope &scope_of(uint64_t key, uint64_t packet, const mapi_group_inputs &inputs);
    const Scope &find_scope(uint64_t key, uint64_t packet, const mapi_group_inputs &inputs);
    const Scope &scope_of_all();
    void begin_batch();
    void examine(const mapi_packet &packet, uint64_t bit, const Scope &scope);
    void examine_http(const Scope &scope, uint64_t bit);
    void judge_once(uint32_t rule, uint64_t bit);
    void judge(uint32_t rule, uint64_t bit);

    const std::vector<Listed> rules_;
    std::vector<Requirement> requirements_;
    PacketTexts texts_;

    const uint64_t seed_;
    uint64_t plan_ = 0;
    std::vector<uint64_t> keys_; // of the plan's inputs: their sum modulo 2 identifies a scope
    std::unordered_map<uint64_t, std::unique_ptr<Scope>> scopes_;
    struct Recent {
        uint64_t key = 0;
        const Scope *scope = nullptr;
    };
    std::array<Recent, 256> recent_; // by the key's lowest byte
    uint64_t scope_bytes_ = 0;
    std::unique_ptr<Scope> all_; // in place of further ones

    uint64_t packet_ = 0;               // a number for each packet
    std::vector<uint64_t> last_packet_; // for which each rule was judged
    uint64_t batch_ = 0;
    std::vector<uint64_t> last_batch_; // in which each rule last passed a packet
    std::vector<uint32_t> place_of_;   // in passed_, then
    std::vector<mapi_group_passed> passed_;
};
} // namespace mapi::match::rule
