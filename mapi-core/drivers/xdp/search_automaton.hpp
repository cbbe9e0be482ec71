// SPDX-License-Identifier: MIT
// Texts -> the automaton of Aho and Corasick (Communications of the ACM 18, 1975) that finds all of
// them in one pass, as tables for a program in the kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mapi::drivers::xdp
{
class SearchAutomaton
{
public:
    // A text that ends between these positions of a packet (the first byte ends at 1) sets a bit.
    struct Output {
        uint32_t bit;
        uint32_t first_end;
        uint32_t last_end;
        uint32_t unused = 0;
    };
    struct Text {
        std::string bytes; // in lower case if case is ignored
        Output output;
    };
    static constexpr uint32_t kFound = uint32_t{1} << 31;
    static constexpr size_t kTableWordsMax = size_t{1} << 22;
    static constexpr size_t kOutputsMax = size_t{1} << 16;

    // Throws std::length_error if the tables would be larger than that.
    SearchAutomaton(std::span<const Text> texts, bool ignores_case);

    // All bytes that the texts do not tell apart have the same class.
    const std::array<uint8_t, 256> &classes() const { return classes_; }
    uint32_t class_count() const { return class_count_; }
    // Rows of words, the first one for the state in which nothing has been seen.  The word of a
    // class: the place of the next state's row, and kFound if some text ends with this byte.  Two
    // words after those of the classes: the first of the state's outputs, and their number.  The
    // size is a power of two.
    std::span<const uint32_t> table() const { return table_; }
    // The size is a power of two.
    std::span<const Output> outputs() const { return outputs_; }

private:
    void choose_classes(std::span<const Text> texts, bool ignores_case);
    uint32_t add_state();
    uint32_t add_path(const std::string &bytes);
    void complete(std::vector<std::vector<Output>> &outputs);
    void write_outputs(const std::vector<std::vector<Output>> &outputs);
    uint32_t states() const { return uint32_t(table_.size() / row_words_); }

    std::array<uint8_t, 256> classes_ = {};
    uint32_t class_count_ = 0;
    uint32_t row_words_ = 0;
    std::vector<uint32_t> table_; // while it grows: numbers of states; 0: none
    std::vector<Output> outputs_;
};
} // namespace mapi::drivers::xdp
