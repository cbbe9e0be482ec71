// SPDX-License-Identifier: MIT
// Many BPF programs -> their verdicts on earlier packets for which all comparisons of the programs
// have the same outcome: ports that no program mentions are alike.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <mapi/packet.h>

#include "bpf_index.hpp"
#include "field_classes.hpp"
#include "match/bpf/bpf_step.hpp"

namespace mapi::match
{
// Exact, whatever the programs test: ranges, inequalities, several fields.  Not thread-safe.
class VerdictCache
{
public:
    // Null if a program's verdict depends on anything else, or on too many fields.
    static std::unique_ptr<VerdictCache> make(const std::vector<BpfSteps> &programs);

    // Returns the packets of `mask` without a known verdict; those of the others are in verdicts().
    uint64_t recall(const mapi_packet *packets, uint64_t mask);
    // For all packets that recall() has just returned: what accepts which of them, each program at
    // most once; also added to verdicts().
    void learn(uint64_t unknown, std::span<const BpfCandidates> accepted);
    // Packets that each program accepts; each program at most once.
    std::span<const BpfCandidates> verdicts() const { return verdicts_; }

private:
    static constexpr size_t kMostFields = 16;
    static constexpr size_t kMostWords = 12;     // of their classes
    static constexpr size_t kMostAccepting = 40; // packets that more programs accept are not kept
    static constexpr size_t kEntryBits = 12;

    // Fields counted from one place; they are loaded only from packets that pass the guard.
    struct Base {
        std::optional<FieldTest> guard;
        uint32_t header;
        std::vector<FieldClasses> fields = {};
        uint64_t end = 0;             // of the field that ends last
        uint64_t places = 0;          // of its fields in a key
        uint32_t place = 0, word = 0; // of its first field
    };
    struct Key {
        std::array<uint16_t, kMostWords> words; // the classes of fields that the packet has
        uint64_t places;                        // which of the fields it has

        using Quads = std::array<uint64_t, kMostWords / 4 + 1>;
        Quads quads() const { return std::bit_cast<Quads>(*this); }
        bool operator==(const Key &other) const
        {
            const Quads a = quads(), b = other.quads();
            return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3])) == 0;
        }
    };
    static_assert(sizeof(Key) == 32);
    // What a packet with a known verdict needs comes first, in one line of the cache.
    struct alignas(64) Entry {
        Key key;
        uint64_t found; // packets of the batch with this key; 0 between calls
        bool is_used;
        uint8_t packet; // of the batch from which it was learned
        uint16_t count;
        std::array<uint16_t, kMostAccepting> programs;
    };

    explicit VerdictCache(std::vector<Base> bases, size_t programs);
    Key key_of(const mapi_packet &packet) const;
    static void add_fields(const Base &base, const PacketRest &rest, Key &key);
    static size_t place_of(const Key &key);
    void add(uint32_t program, uint64_t packets);
    bool is_resting(uint64_t packets);

    std::vector<Base> bases_;
    std::vector<Entry> entries_;
    std::array<Key, MAPI_BATCH_MAX> keys_;         // by packet
    std::array<Entry *, MAPI_BATCH_MAX> entry_of_; // likewise
    std::array<Entry *, MAPI_BATCH_MAX> filled_;   // likewise; null: not to be kept
    std::array<Entry *, MAPI_BATCH_MAX> found_;    // entries with packets of the batch

    std::vector<BpfCandidates> verdicts_;
    std::vector<uint32_t> verdict_of_; // index in verdicts_ of each program
    std::vector<uint64_t> last_call_;  // in which each program accepted a packet
    uint64_t call_ = 0;

    uint64_t asked_ = 0, known_ = 0; // packets since the last look at them
    uint64_t rest_ = 0;              // packets that still are not looked up
};
} // namespace mapi::match
