// SPDX-License-Identifier: MIT
// Many BPF programs -> for each packet, the programs that may accept it, found by the values of a
// few fields.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <mapi/packet.h>

#include "bpf_tests.hpp"
#include "field_table.hpp"
#include "match/bpf/bpf_step.hpp"

namespace mapi::match
{
// Packets that a program may accept; it rejects all others.
struct BpfCandidates {
    uint64_t mask;
    uint32_t program; // index in the list
};

// Not thread-safe, except for may_accept().
class BpfIndex
{
public:
    // Returns null if too few programs test for different values of the same fields.
    static std::unique_ptr<BpfIndex> make(const std::vector<BpfSteps> &programs);

    // Lists each program at most once.  Valid until the next call.
    std::span<const BpfCandidates> find(const mapi_packet *packets, uint64_t mask);

    // Any thread: the packets of `mask` for which find() would list any program, or more.
    uint64_t may_accept(const mapi_packet *packets, uint64_t mask) const;

    // Programs that are candidates for every packet.
    size_t unindexed() const { return always_.size(); }

private:
    using Tests = std::vector<std::vector<ImpliedTest>>;
    // may_accept() keeps what passes each base on its stack.
    static constexpr size_t kBasesMost = 16;

    // Fields counted from the same position, in packets that pass the same test: only IPv6 packets
    // have IPv6 ports.
    struct Base {
        uint32_t header;
        std::optional<FieldTest> guard;
        std::vector<FieldTable> tables;
        std::vector<uint32_t> excluded_by = {}; // earlier bases whose tests exclude this one's
    };
    // The position from which fields of some packets are counted.
    struct Starts {
        PacketRest places[MAPI_BATCH_MAX];
        uint8_t numbers[MAPI_BATCH_MAX]; // of the packets
        uint32_t count = 0;

        // Returns the packets of `mask` that pass.
        template <class Passes>
        uint64_t fill(const PacketField &field, const mapi_packet *packets, uint64_t mask,
                      Passes passes)
        {
            uint64_t passed = 0;
            uint32_t filled = 0;
            for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
                const auto number = uint8_t(std::countr_zero(rest));
                const bool does_pass =
                    passes(packets[number]); // branch-free: packet types arrive in any order
                numbers[filled] = number;
                places[filled] = field.after_header(packets[number]);
                filled += does_pass;
                passed |= uint64_t{does_pass} << number;
            }
            count = filled;
            return passed;
        }
    };

    BpfIndex(const Tests &tests, std::vector<uint32_t> always);
    static uint64_t not_excluded(const Base &base, uint64_t mask, const uint64_t *passed);
    static uint64_t gather(const Base &base, const mapi_packet *packets, uint64_t mask,
                           Starts &starts);
    void find_by(const FieldTable &table, const Starts &starts);
    void add_hits(std::span<const uint32_t> programs, uint64_t packet);

    std::vector<Base> bases_;
    std::vector<uint64_t> passed_; // per base: packets of the current batch that pass its test
    std::vector<uint32_t> always_;
    std::vector<uint32_t> place_of_; // index in candidates_ of each program that is a candidate
    std::vector<BpfCandidates> candidates_;
    std::vector<uint64_t> last_call_; // in which each program was last a candidate
    uint64_t call_ = 0;
};
} // namespace mapi::match
