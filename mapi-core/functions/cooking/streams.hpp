// SPDX-License-Identifier: MIT
// Streams: TCP segments of many streams -> cooked packets with their bytes in order.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>

#include <mapi/mapi.h>

#include "functions/common/made_packets.hpp"
#include "functions/cooking/head.hpp"
#include "functions/cooking/seeded_hash.hpp"
#include "functions/cooking/segment.hpp"
#include "functions/cooking/side.hpp"

namespace mapi::cooking
{
// Limits of what is kept.  Beyond them, the stream that was silent longest ends early.
struct Limits {
    size_t streams = 65536;
    size_t bytes = 64u << 20;     // of all streams, ready or after holes
    size_t hole_bytes = 1u << 20; // after a hole, per direction; then the hole is skipped
    size_t hole_segments = 512;
};

struct Order {
    size_t threshold = 32000; // size of a cooked packet in bytes
    uint64_t timeout_ns = 0;  // a stream without packets ends after this time; 0: never
    bool is_once = false;     // one packet per side
    int side = BOTH_SIDE;
    Limits limits{};
};

class Streams
{
public:
    Streams(const Order &order, mapi_cooking_t &counts, functions::MadePackets &made);

    // Upper bound of what is kept, plus a copy of what ends at the same time.
    static uint64_t memory_bytes(const Limits &limits);

    // The head is from a packet like the segment's.
    void take(const Segment &segment, const Head &head);
    // Ends streams that were silent for too long.
    void expire(uint64_t now_ns);
    void end_all();

private:
    struct Stream {
        Ends ends;
        std::array<Side, 2> sides; // indexed by sender
        unsigned client = 0;
        uint64_t last_ns = 0;
        size_t cost = 0; // as included in cost_
        bool is_closed = false;
        bool is_quiet = true; // is in quiet_
    };
    using List = std::list<Stream>;
    struct Hash {
        SeededHash hash;
        size_t operator()(const Ends &ends) const { return hash.of(&ends, sizeof(ends)); }
    };

    // streams.cpp
    List::iterator begin(const Segment &segment);
    void settle(List::iterator stream);
    void end(List::iterator stream);
    void end_oldest();
    void ignore(size_t payload_bytes);

    // handshake.cpp
    List::iterator take_syn(List::iterator stream, const Segment &segment, const Head &head);
    void open(Stream &stream, const Segment &syn, const Head &head);
    List::iterator renew(List::iterator stream, unsigned client);
    void take_reset(Stream &stream, const Segment &segment);

    // acceptance.cpp
    List::iterator take_segment(List::iterator stream, const Segment &segment, const Head &head);
    void accept(Stream &stream, const Segment &segment, const Head &head);
    void begin_side(Stream &stream, unsigned from, uint32_t first);
    void put(Stream &stream, const Segment &segment, uint32_t sequence);
    void put_bytes(Side &side, const Side &peer, const Segment &segment, uint32_t sequence);
    std::span<const uint8_t> put_early(Side &side, const Side &peer, const Segment &segment,
                                       uint32_t sequence);
    void close(Stream &stream, const Segment &segment, uint32_t end_sequence);

    // doubt.cpp
    std::optional<Doubtful::Reason> doubt(const Stream &stream, const Segment &segment) const;
    void hold(Stream &stream, const Segment &segment, const Head &head, Doubtful::Reason reason);
    void confirm(Stream &stream, unsigned from, uint32_t acknowledgment, bool is_taken);
    void go_on_after(Stream &stream, const Segment &segment);
    void resume(Stream &stream, unsigned from, const Doubtful &at);
    void accept_doubtful(Stream &stream, size_t place, unsigned from);
    void drop_doubtful(Side &side, size_t place);
    void drop_overtaken(Side &side);
    void bound_doubtful(Stream &stream, unsigned from);
    void end_doubtful(Stream &stream, unsigned from);

    // giving.cpp
    void give_full(Side &side, uint64_t timestamp_ns);
    void give_ready(Side &side, uint64_t timestamp_ns);
    void leave_early(Side &side);
    void give_all(Side &side, uint64_t timestamp_ns);
    void give(Side &side, size_t count, uint64_t timestamp_ns);
    void cook(Side &side, uint32_t sequence, std::span<const uint8_t> all, uint64_t timestamp_ns);
    void cook_run(Side &side, const EarlyBytes::Run &run, uint64_t timestamp_ns);
    void skip_hole(Side &side, uint64_t timestamp_ns);
    uint32_t skip(Side &side, uint32_t bytes_most);
    void finish(Side &side);

    const Order order_;
    mapi_cooking_t &counts_;
    functions::MadePackets &made_;
    // Each ordered by time of the last packet: streams that hold bytes or may get some, and streams
    // without bytes so far or closed.
    List busy_, quiet_;
    std::unordered_map<Ends, List::iterator, Hash> by_ends_;
    size_t cost_ = 0;
};
} // namespace mapi::cooking
