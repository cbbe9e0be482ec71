// SPDX-License-Identifier: MIT
// Fragments: IP fragments of TCP packets -> whole datagrams.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>

#include <mapi/results.h>

#include "functions/cooking/half_stream.hpp"
#include "functions/cooking/head.hpp"
#include "functions/cooking/seeded_hash.hpp"

namespace mapi::cooking
{
struct Fragment {
    std::array<uint8_t, 32> addresses{};
    uint32_t identification = 0;
    uint32_t offset = 0; // in bytes
    bool has_more = false;
    std::span<const uint8_t> data;
};

// A fragment of TCP; nullopt for other protocols, and if the headers show that more than TCP was
// fragmented.
std::optional<Fragment> read_fragment(const mapi_packet &packet, const headers::IpLayer &layer);

struct Datagram {
    Head head; // without the TCP header
    HalfStream bytes;
    std::span<const uint8_t> source() const
    {
        return std::span(head.bytes).subspan(head.ip + (is_ipv4() ? 12 : 8), is_ipv4() ? 4 : 16);
    }
    std::span<const uint8_t> destination() const
    {
        return std::span(head.bytes).subspan(head.ip + (is_ipv4() ? 16 : 24), is_ipv4() ? 4 : 16);
    }

private:
    bool is_ipv4() const { return head.bytes[head.ip] >> 4 == 4; }
};

class Fragments
{
public:
    // The limit for incomplete datagrams, in bytes and time, as in Linux (ipfrag_high_thresh).
    static constexpr size_t kCostMost = 4u << 20;
    static constexpr uint64_t kTimeoutNs = 30000000000;
    static constexpr size_t kDatagramCost = 1024; // in addition to its bytes

    explicit Fragments(mapi_cooking_t &counts) : counts_(counts) {}

    // Returns the datagram once it is complete.
    std::optional<Datagram> take(const mapi_packet &packet, const headers::Headers &found,
                                 const Fragment &fragment);
    void expire(uint64_t now_ns);
    // Gives up the remaining ones.
    void end_all();

private:
    struct Key {
        std::array<uint8_t, 32> addresses;
        uint32_t identification;
        bool operator==(const Key &) const = default;
    };
    static_assert(sizeof(Key) == 36); // all bytes are defined: the key is hashed as a whole
    struct Hash {
        SeededHash hash;
        size_t operator()(const Key &key) const { return hash.of(&key, sizeof(key)); }
    };
    struct Waiting {
        Key key;
        Datagram datagram;
        uint64_t first_ns = 0;
        uint32_t end = 0; // 0: the last fragment has not arrived
        uint32_t fragments = 0;
        size_t cost = 0; // as included in cost_
    };
    using List = std::list<Waiting>; // oldest first

    List::iterator find(const Key &key, uint64_t timestamp_ns);
    void erase(List::iterator waiting);
    void give_up(List::iterator waiting);

    mapi_cooking_t &counts_;
    List waiting_;
    std::unordered_map<Key, List::iterator, Hash> by_key_;
    size_t cost_ = 0;
};
} // namespace mapi::cooking
