// SPDX-License-Identifier: MIT
// Filters that get the same packets -> tables that find those that may accept a packet.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <mapi/driver.h>
#include <pcap/pcap.h>

#include "match/bpf/index/packet_field.hpp"

namespace mapi::drivers::xdp
{
// A field's value, folded to 16 bits, is an index into the field's table, which has the number of a
// group of filters; 0: no filter.  Each filter is in one group only.
class FilterIndex
{
public:
    static constexpr uint32_t kTableEntries = 65536;
    static constexpr size_t kFieldsMax = 8; // those that most filters test
    static constexpr size_t kFewest = 8;    // filters

    // filters: nodes of a program.  Null if an index would find too few of them.
    static std::unique_ptr<const FilterIndex> make(std::span<const mapi_offload_node> nodes,
                                                   const std::vector<uint32_t> &filters);

    size_t fields() const { return fields_.size(); }
    // A program that returns the folded value of a field; 0 is in no table.
    std::span<const bpf_insn> loader(size_t field) const { return fields_[field].loader; }
    void fill(size_t field, std::span<uint16_t> table) const;
    // Group i has the number i; group 0 is empty.
    const std::vector<std::vector<uint32_t>> &groups() const { return groups_; }
    // For one bit for each group; a power of two.
    uint32_t group_words() const { return std::bit_ceil(uint32_t(groups_.size() + 63) / 64); }
    // Nodes in no group, which may accept any packet.
    const std::vector<uint32_t> &always() const { return always_; }

private:
    struct Field {
        std::vector<bpf_insn> loader;
        std::vector<std::pair<uint16_t, uint16_t>> entries; // folded value, number of a group
    };

    std::vector<Field> fields_;
    std::vector<std::vector<uint32_t>> groups_ = {{}};
    std::vector<uint32_t> always_;
};
} // namespace mapi::drivers::xdp
