// SPDX-License-Identifier: MIT
// analyse: values in order of arrival, with correlated neighbours -> standard error of their mean.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace nsdump
{
// Consecutive slices are not independent: they share caches, frequency, and their position on the
// clock's steps.  Their values are therefore summed in blocks, which are nearly independent: 32 to
// 64 of them, with the length doubled whenever more are needed.
class Blocks
{
public:
    static constexpr size_t kBlocks = 64;

    // `weight`: 1 for a mean, packets for a ratio.
    void add(double weight, double value)
    {
        Block &block = blocks_[full_];
        block.weight += weight;
        block.value += value;
        if (++filled_ == length_) [[unlikely]]
            next_block();
    }
    // Prefetches what add() needs: first the index of the block, then the block.
    void prefetch() const { __builtin_prefetch(&full_, 1); }
    void prefetch_block() const { __builtin_prefetch(&blocks_[full_], 1); }
    size_t count() const { return full_ + (filled_ > 0); }
    // Standard error of the sum of values divided by the sum of weights; 0 for fewer than two
    // blocks.
    double standard_error() const
    {
        double weights = 0, values = 0, squares = 0;
        for (const Block &block : blocks_) {
            weights += block.weight;
            values += block.value;
        }
        if (count() < 2 || !(weights > 0))
            return 0;
        for (const Block &block : blocks_) {
            const double left_over = block.value - values / weights * block.weight;
            squares += left_over * left_over;
        }
        const double n = double(count());
        return std::sqrt(squares * n / (n - 1)) / weights;
    }

private:
    struct Block {
        double weight = 0;
        double value = 0;
    };

    void next_block()
    {
        filled_ = 0;
        if (++full_ < kBlocks)
            return;
        for (size_t i = 0; i < kBlocks / 2; ++i)
            blocks_[i] = {blocks_[2 * i].weight + blocks_[2 * i + 1].weight,
                          blocks_[2 * i].value + blocks_[2 * i + 1].value};
        for (size_t i = kBlocks / 2; i < kBlocks; ++i)
            blocks_[i] = {};
        full_ = kBlocks / 2;
        length_ *= 2;
    }

    std::array<Block, kBlocks> blocks_{};
    size_t full_ = 0;
    uint64_t filled_ = 0; // values in the current block, after the full ones
    uint64_t length_ = 1;
};
} // namespace nsdump
