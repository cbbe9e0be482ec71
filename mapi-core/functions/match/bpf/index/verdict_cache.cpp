// SPDX-License-Identifier: MIT
// Verdict cache: a key of the classes of loaded fields -> an entry with the programs that accept.
#include "verdict_cache.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace mapi::match
{
namespace
{
// If most packets are new, as in a scan of ports, looking them up is a waste: for some time they
// are not.
constexpr uint64_t kPacketsOfLook = 1 << 14;
constexpr uint64_t kPacketsOfRest = 1 << 17;

// What all programs together do with a field.
struct Uses {
    std::vector<FieldTest> guards; // that all loads share
    std::vector<FieldComparison> comparisons = {};
};
using UsesOfField = std::map<PacketField, Uses>;

bool add_uses(BpfSteps program, UsesOfField &uses)
{
    const std::optional<BpfBasis> basis = find_basis(program);
    if (!basis)
        return false;
    for (const BpfTests::Load &load : basis->loads) {
        const auto [entry, is_new] = uses.try_emplace(load.field, Uses{load.guards});
        if (is_new)
            continue;
        std::erase_if(entry->second.guards, [&](const FieldTest &guard) {
            return !std::binary_search(load.guards.begin(), load.guards.end(), guard);
        });
    }
    for (const FieldComparison &comparison : basis->comparisons) {
        PacketField whole = comparison.field;
        whole.mask = uint32_t(~uint64_t{0} >> (64 - 8 * whole.bytes));
        uses.at(whole).comparisons.push_back(comparison);
    }
    return true;
}
} // namespace

std::unique_ptr<VerdictCache> VerdictCache::make(const std::vector<BpfSteps> &programs)
{
    UsesOfField uses;
    for (const BpfSteps &program : programs) {
        if (!add_uses(program, uses))
            return nullptr;
    }
    if (uses.size() > kMostFields || programs.size() > UINT16_MAX)
        return nullptr;
    std::vector<Base> bases;
    size_t words = 0;
    for (auto &[field, use] : uses) {
        std::optional<FieldTest> guard;
        if (!use.guards.empty())
            guard = use.guards.front(); // of the outermost header
        const uint32_t header = field.header;
        auto base = std::find_if(bases.begin(), bases.end(), [&](const Base &one) {
            return one.guard == guard && one.header == header;
        });
        if (base == bases.end())
            base = bases.insert(base, Base{guard, header});
        base->fields.emplace_back(field, std::move(use.comparisons));
        words += base->fields.back().words();
    }
    if (words > kMostWords)
        return nullptr;
    uint32_t place = 0, word = 0;
    for (Base &base : bases) {
        base.place = place;
        base.word = word;
        for (const FieldClasses &classes : base.fields) {
            base.places |= uint64_t{1} << place++;
            base.end = std::max(base.end, classes.field().end());
            word += uint32_t(classes.words());
        }
    }
    return std::unique_ptr<VerdictCache>(new VerdictCache(std::move(bases), programs.size()));
}

VerdictCache::VerdictCache(std::vector<Base> bases, size_t programs)
    : bases_(std::move(bases)), entries_(size_t{1} << kEntryBits), keys_(), entry_of_(), filled_(),
      found_(), verdict_of_(programs), last_call_(programs)
{
    verdicts_.reserve(programs);
}

// The outcome of a guard is one of the comparisons, so that the key says which bases the packet
// has.
VerdictCache::Key VerdictCache::key_of(const mapi_packet &packet) const
{
    Key key = {};
    for (const Base &base : bases_) {
        if (base.guard && !base.guard->passes(packet))
            continue;
        const PacketRest rest = base.fields.front().field().after_header(packet);
        if (rest.bytes < base.end) [[unlikely]] {
            add_fields(base, rest, key);
            continue;
        }
        key.places |= base.places;
        uint16_t *word = &key.words[base.word];
        for (const FieldClasses &classes : base.fields)
            word = classes.add_class(rest.data, word);
    }
    return key;
}

// Those that the packet has.
void VerdictCache::add_fields(const Base &base, const PacketRest &rest, Key &key)
{
    uint32_t place = base.place;
    uint16_t *word = &key.words[base.word];
    for (const FieldClasses &classes : base.fields) {
        if (rest.bytes >= classes.field().end()) {
            key.places |= uint64_t{1} << place;
            classes.add_class(rest.data, word);
        }
        ++place;
        word += classes.words();
    }
}

size_t VerdictCache::place_of(const Key &key)
{
    const Key::Quads quads = key.quads();
    uint64_t hash = quads[0] * 0x9e3779b97f4a7c15 ^ std::rotl(quads[1] * 0xbf58476d1ce4e5b9, 23);
    hash ^= std::rotl(quads[2] * 0x94d049bb133111eb, 41) ^ quads[3];
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15;
    return size_t(hash >> (64 - kEntryBits));
}

bool VerdictCache::is_resting(uint64_t packets)
{
    if (rest_ > 0) {
        rest_ -= std::min(rest_, packets);
        return true;
    }
    asked_ += packets;
    if (asked_ < kPacketsOfLook)
        return false;
    rest_ = known_ * 2 < asked_ ? kPacketsOfRest : 0;
    asked_ = known_ = 0;
    return false;
}

uint64_t VerdictCache::recall(const mapi_packet *packets, uint64_t mask)
{
    verdicts_.clear();
    ++call_;
    filled_.fill(nullptr);
    if (is_resting(uint64_t(std::popcount(mask))))
        return mask;
    uint64_t unknown = 0;
    size_t entries = 0;
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto i = size_t(std::countr_zero(rest));
        keys_[i] = key_of(packets[i]);
    }
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto i = size_t(std::countr_zero(rest));
        entry_of_[i] = &entries_[place_of(keys_[i])];
        __builtin_prefetch(entry_of_[i], 1);
    }
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto i = size_t(std::countr_zero(rest));
        Entry &entry = *entry_of_[i];
        if (entry.is_used && entry.key == keys_[i]) {
            if (entry.found == 0)
                found_[entries++] = &entry;
            entry.found |= rest & -rest;
            continue;
        }
        unknown |= rest & -rest;
        filled_[i] = &entry;
    }
    for (Entry *const entry : std::span(found_).first(entries)) {
        for (uint16_t n = 0; n < entry->count; ++n)
            add(entry->programs[n], entry->found);
        entry->found = 0;
    }
    known_ += uint64_t(std::popcount(mask & ~unknown));
    return unknown;
}

void VerdictCache::learn(uint64_t unknown, std::span<const BpfCandidates> accepted)
{
    uint64_t learning = 0;
    for (uint64_t rest = unknown; rest != 0; rest &= rest - 1) {
        const auto i = size_t(std::countr_zero(rest));
        Entry *const entry = filled_[i];
        if (!entry)
            continue;
        if (learning >> entry->packet & 1 && filled_[entry->packet] == entry)
            learning &= ~(uint64_t{1} << entry->packet); // of two packets the later one stays
        *entry = {keys_[i], 0, true, uint8_t(i), 0, {}};
        learning |= rest & -rest;
    }
    for (const BpfCandidates &one : accepted) {
        add(one.program, one.mask);
        for (uint64_t rest = one.mask & learning; rest != 0; rest &= rest - 1) {
            Entry &entry = *filled_[size_t(std::countr_zero(rest))];
            if (entry.count < kMostAccepting)
                entry.programs[entry.count++] = uint16_t(one.program);
            else
                entry.is_used = false;
        }
    }
}

void VerdictCache::add(uint32_t program, uint64_t packets)
{
    if (last_call_[program] == call_) {
        verdicts_[verdict_of_[program]].mask |= packets;
        return;
    }
    last_call_[program] = call_;
    verdict_of_[program] = uint32_t(verdicts_.size());
    verdicts_.push_back({packets, program});
}
} // namespace mapi::match
