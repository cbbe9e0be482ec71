// SPDX-License-Identifier: MIT
// Anonymizing: packets -> copies of them without what the rules hide; shared by ANONYMIZE and
// ANONYMIZEIP.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include <mapi/results.h>

#include "anonymize/anonymizer.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/made_packets.hpp"
#include "functions/common/unread_packets.hpp"

namespace mapi::functions
{
class Anonymizing
{
public:
    // Applies the rules in order.  The tables must outlive it.  Throws std::runtime_error.
    Anonymizing(mapi_anonymize_t *result, const std::vector<anonymize::Rule> &rules,
                anonymize::Tables &tables)
        : result_(result), tables_(tables)
    {
        for (const anonymize::Rule &rule : rules)
            anonymizers_.emplace_back(rule, tables);
        may_grow_ = std::ranges::any_of(rules, anonymize::may_grow);
    }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        made_.clear();
        unread_.note(batch, mask);
        for (; mask != 0; mask &= mask - 1) {
            try {
                make(batch.packets[std::countr_zero(mask)]);
            } catch (const std::bad_alloc &) {
                no_room_.fetch_add(1, std::memory_order_relaxed);
            }
        }
        publish();
    }

    bool next(mapi_batch *batch) { return made_.next(batch); }
    const UnreadPackets &unread() const { return unread_; }
    uint64_t no_room() const { return no_room_.load(std::memory_order_relaxed); }

private:
    // For texts that grow; a text that needs more is truncated to the size of its field.
    static constexpr uint32_t kSpareBytes = 2048;

    void make(const mapi_packet &original)
    {
        anonymize::MutablePacket packet;
        packet.caplen = original.caplen;
        packet.wire_len = original.wire_len;
        packet.room = original.caplen + (may_grow_ ? kSpareBytes : 0);
        packet.link_type = original.link_type;
        if (!made_.has_room(1, packet.room)) { // some link types allow packets longer than 256 KiB
            no_room_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        packet.data = made_.add(original, packet.room, original.wire_len);
        std::copy_n(original.data, original.caplen, packet.data);
        bool is_lost = false;
        for (anonymize::Anonymizer &anonymizer : anonymizers_) {
            const uint64_t lost_before = anonymizer.counts().lost_packets;
            anonymizer.apply(packet);
            is_lost |= anonymizer.counts().lost_packets != lost_before;
        }
        if (is_lost)
            unread_.note_header(original);
        made_.cut_last(packet.caplen, packet.wire_len);
    }

    void publish()
    {
        mapi_anonymize_t total{};
        for (const anonymize::Anonymizer &anonymizer : anonymizers_) {
            const anonymize::Counts &counts = anonymizer.counts();
            total.packets = counts.packets;
            total.fields += counts.fields;
            total.absent += counts.packets_without;
            total.cut_fields += counts.cut_fields;
            total.lost_packets += counts.lost_packets;
            total.given_up += counts.given_up;
            total.no_room += counts.no_room;
            total.unknown_checksums += counts.unknown_checksums;
        }
        total.not_kept = tables_.not_kept();
        *result_ = total;
    }

    mapi_anonymize_t *result_;
    anonymize::Tables &tables_;
    std::vector<anonymize::Anonymizer> anonymizers_;
    bool may_grow_ = false;
    std::atomic<uint64_t> no_room_ = 0; // packets dropped for lack of memory
    MadePackets made_;
    UnreadPackets unread_;
};

inline uint64_t process_anonymizing(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<Anonymizing *>(instance)->run(*batch, mask);
    return 0;
}

inline void drops_of_anonymizing(const void *instance, mapi_function_drops *drops)
{
    drops->buffer_full = static_cast<const Anonymizing *>(instance)->no_room();
    static_cast<const Anonymizing *>(instance)->unread().add_drops(drops);
}

inline int next_anonymized(void *instance, mapi_batch *batch)
{
    return static_cast<Anonymizing *>(instance)->next(batch);
}

// The rules of one client share their tables, those of different clients do not: no client can
// learn how another's values were mapped, or use up its entries.
inline const mapi_common_object kClientTables = {
    .struct_size = sizeof(mapi_common_object),
    .create = []() -> void * {
        try {
            return new anonymize::Tables;
        } catch (const std::exception &) { // out of memory, or libcrypto failed
            return nullptr;
        }
    },
    .destroy = destroy<anonymize::Tables>,
    .bytes = anonymize::Tables::memory_bytes(anonymize::Tables::kValuesMax),
};

inline int create_anonymizing(const mapi_function_setup *setup, void **instance,
                              const std::vector<anonymize::Rule> &rules)
{
    auto *const tables = common_object<anonymize::Tables>(setup, kClientTables);
    if (!tables)
        return refuse(
            setup, MFUNCT_COULD_NOT_APPLY_FUNCT,
            "cannot create its tables: out of memory, or no random numbers from libcrypto");
    if (const int refused = reserve_memory(setup, MadePackets::kMemoryBytes))
        return refused;
    return create_object<Anonymizing>(
        setup, instance, static_cast<mapi_anonymize_t *>(setup->result), rules, *tables);
}

// Reports the wrong part of a rule as MAPI 2 does, as if the parts were arguments.
inline int refuse_rule(const mapi_function_setup *setup, const anonymize::RuleError &error,
                       const std::string &where)
{
    return refuse(setup, MFUNCT_INVALID_ARGUMENT + int(error.part()), where + error.what());
}
} // namespace mapi::functions
