// SPDX-License-Identifier: MIT
// Rule set: which scope a packet has, what is searched in it, and the rules that remain.
#include "match/rule/set/rule_set.hpp"

#include <bit>
#include <numeric>
#include <random>

#include "match/rule/http_parts.hpp"

namespace mapi::match::rule
{
namespace
{
// Beyond these a packet is searched for the literals of all rules.  Only traffic made for that has
// so many combinations of ports.
constexpr size_t kMostScopes = 1024;
constexpr uint64_t kMostScopeBytes = 64 << 20;

// SplitMix64, so that the keys of different sets of inputs differ.
uint64_t mixed(uint64_t number)
{
    number += 0x9e3779b97f4a7c15;
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
    number = (number ^ number >> 27) * 0x94d049bb133111eb;
    return number ^ number >> 31;
}
} // namespace

RuleSet::RuleSet(std::vector<Listed> rules)
    : rules_(std::move(rules)), seed_(uint64_t{std::random_device()()} << 32),
      last_packet_(rules_.size()), last_batch_(rules_.size()), place_of_(rules_.size())
{
    for (const Listed &listed : rules_)
        requirements_.push_back(requirement_of(*listed.rule));
    passed_.reserve(rules_.size());
}

std::unique_ptr<RuleSet::Scope> RuleSet::make_scope(std::span<const uint32_t> rules) const
{
    using Kind = Requirement::Kind;
    auto scope = std::make_unique<Scope>();
    std::vector<LiteralScan::Wanted> in_payload, in_http;
    for (const uint32_t rule : rules) {
        switch (requirements_[rule].kind) {
        case Kind::kNothing: scope->any.push_back(rule); break;
        case Kind::kPayload: scope->with_payload.push_back(rule); break;
        case Kind::kHttp: scope->with_http.push_back(rule); break;
        case Kind::kHttpLiteral: in_http.push_back({requirements_[rule], rule}); break;
        case Kind::kLiteral:
        case Kind::kFixedLiteral: in_payload.push_back({requirements_[rule], rule}); break;
        }
    }
    scope->all.assign(rules.begin(), rules.end());
    scope->has_http = !scope->with_http.empty() || !in_http.empty();
    scope->in_payload = LiteralScan(in_payload);
    scope->in_http = LiteralScan(in_http);
    scope->memory_bytes = sizeof(Scope) + rules.size() * sizeof(uint32_t) +
                          scope->in_payload.memory_bytes() + scope->in_http.memory_bytes();
    return scope;
}

void RuleSet::begin_plan(const mapi_group_inputs &inputs)
{
    plan_ = inputs.plan;
    scopes_.clear();
    recent_.fill({});
    scope_bytes_ = 0;
    keys_.resize(inputs.numbers);
    for (uint32_t i = 0; i < inputs.numbers; ++i)
        keys_[i] = mixed(seed_ + i);
}

const RuleSet::Scope &RuleSet::scope_of_all()
{
    if (!all_) {
        std::vector<uint32_t> rules(rules_.size());
        std::iota(rules.begin(), rules.end(), 0u);
        all_ = make_scope(rules);
    }
    return *all_;
}

const RuleSet::Scope &RuleSet::scope_of(uint64_t key, uint64_t packet,
                                        const mapi_group_inputs &inputs)
{
    Recent &recent = recent_[key % recent_.size()];
    if (recent.key != key || !recent.scope) [[unlikely]]
        recent = {key, &find_scope(key, packet, inputs)};
    return *recent.scope;
}

const RuleSet::Scope &RuleSet::find_scope(uint64_t key, uint64_t packet,
                                          const mapi_group_inputs &inputs)
{
    const auto known = scopes_.find(key);
    if (known != scopes_.end()) [[likely]]
        return *known->second;
    if (scopes_.size() >= kMostScopes || scope_bytes_ >= kMostScopeBytes)
        return scope_of_all();
    std::vector<uint32_t> rules;
    for (const mapi_group_input &input : std::span(inputs.inputs, inputs.count)) {
        if (input.mask & packet)
            rules.insert(rules.end(), input.instances, input.instances + input.count);
    }
    std::unique_ptr<Scope> scope = make_scope(rules);
    scope_bytes_ += scope->memory_bytes;
    return *scopes_.emplace(key, std::move(scope)).first->second;
}

void RuleSet::begin_batch()
{
    passed_.clear();
    ++batch_;
}

std::span<const mapi_group_passed> RuleSet::find(const mapi_batch &batch,
                                                 const mapi_group_inputs &inputs)
{
    begin_batch();
    if (inputs.plan != plan_) [[unlikely]]
        begin_plan(inputs);
    std::array<uint64_t, MAPI_BATCH_MAX> keys = {};
    uint64_t all = 0;
    for (const mapi_group_input &input : std::span(inputs.inputs, inputs.count)) {
        const uint64_t key = keys_[input.number];
        all |= input.mask;
        for (uint64_t rest = input.mask; rest != 0; rest &= rest - 1)
            keys[size_t(std::countr_zero(rest))] ^= key;
    }
    const Scope *scope = nullptr;
    uint64_t last_key = 0;
    for (uint64_t rest = all; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        const uint64_t bit = rest & -rest;
        if (!scope || keys[size_t(i)] != last_key)
            scope = &scope_of(keys[size_t(i)], bit, inputs);
        last_key = keys[size_t(i)];
        examine(batch.packets[i], bit, *scope);
    }
    return passed_;
}

std::span<const mapi_group_passed> RuleSet::find(const mapi_batch &batch, uint64_t mask)
{
    begin_batch();
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
        examine(batch.packets[std::countr_zero(rest)], rest & -rest, scope_of_all());
    return passed_;
}

void RuleSet::examine(const mapi_packet &packet, uint64_t bit, const Scope &scope)
{
    texts_.begin(packet);
    ++packet_;
    if (texts_.fields().unread() != PacketFields::Unread::kNothing) [[unlikely]] {
        for (const uint32_t rule : scope.all)
            rules_[rule].counts->note(texts_.fields());
    }
    for (const uint32_t rule : scope.any)
        judge(rule, bit);
    const std::span<const uint8_t> payload = texts_.fields().payload();
    if (payload.empty())
        return;
    for (const uint32_t rule : scope.with_payload)
        judge(rule, bit);
    scope.in_payload.find(payload, [&](uint32_t rule) { judge_once(rule, bit); });
    if (scope.has_http && texts_.fields().is_tcp() && begins_like_http(payload)) [[unlikely]]
        examine_http(scope, bit);
}

void RuleSet::examine_http(const Scope &scope, uint64_t bit)
{
    for (const uint32_t rule : scope.with_http)
        judge(rule, bit);
    for (size_t i = 0; i < kBuffers; ++i) {
        if (!is_http(Buffer(i)))
            continue;
        if (const auto text = texts_.text(Buffer(i)))
            scope.in_http.find(*text, [&](uint32_t rule) { judge_once(rule, bit); });
    }
}

void RuleSet::judge_once(uint32_t rule, uint64_t bit)
{
    if (last_packet_[rule] == packet_)
        return;
    last_packet_[rule] = packet_;
    judge(rule, bit);
}

void RuleSet::judge(uint32_t rule, uint64_t bit)
{
    const Verdict verdict = evaluate(*rules_[rule].rule, texts_);
    if (verdict == Verdict::kGivenUp)
        rules_[rule].counts->note_given_up();
    if (verdict != Verdict::kMatch)
        return;
    if (last_batch_[rule] == batch_) {
        passed_[place_of_[rule]].mask |= bit;
        return;
    }
    last_batch_[rule] = batch_;
    place_of_[rule] = uint32_t(passed_.size());
    passed_.push_back({bit, rule});
}
} // namespace mapi::match::rule
