// SPDX-License-Identifier: MIT
// The searches of a program: all texts of a device in one automaton, or in two if some ignore case.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <mapi/driver.h>

#include "drivers/xdp/search_automaton.hpp"

namespace mapi::drivers::xdp
{
class SearchSet
{
public:
    // Where an automaton's tables are in the map of all.
    struct Placed {
        SearchAutomaton automaton;
        size_t classes_byte, outputs_byte, table_byte;
    };

    // Of the searches among the nodes that are taken.  Throws std::length_error as SearchAutomaton.
    explicit SearchSet(std::span<const mapi_offload_node> nodes);

    // The bit of a search: the same one for all with the same texts, window and case.
    uint32_t bit_of(uint32_t node) const { return bits_.at(node); }

    const std::vector<Placed> &automata() const { return automata_; }
    size_t bytes() const { return bytes_; }
    // `memory`: of bytes(), zeroed.
    void write(std::span<uint8_t> memory) const;
    // For the bits; a power of two.
    uint32_t bit_words() const { return std::bit_ceil((distinct_ + 63) / 64); }

private:
    void place(SearchAutomaton &&automaton);

    std::vector<Placed> automata_;
    std::map<uint32_t, uint32_t> bits_; // by node
    uint32_t distinct_ = 0;
    size_t bytes_ = 0;
};
} // namespace mapi::drivers::xdp
