// SPDX-License-Identifier: MIT
// analyse: values in order of arrival, with correlated neighbours -> standard error of their mean.
#pragma once

#include <algorithm>
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
        current_.excess += weight - 1;
        current_.value += value;
        if (--left_ == 0) [[unlikely]]
            next_block();
    }
    // The same with the weight 1.
    void add(double value)
    {
        current_.value += value;
        if (--left_ == 0) [[unlikely]]
            next_block();
    }
    // Adds those of `other`, of values at about the same times, such as those of another CPU: what
    // disturbed both at once must count as one disturbance, and what always differs between them as
    // none.  No value may be added afterwards.
    void merge(const Blocks &other)
    {
        const size_t most = std::max(count(), other.count()),
                     least = std::min(count(), other.count());
        if (least == 0) {
            *this = most == count() ? *this : other;
            return;
        }
        const size_t blocks = std::min(most, std::max(kBlocks / 2, least));
        Blocks both;
        both.widening_ = 0;
        both.full_ = blocks;
        both.length_ = uint64_t(std::ceil((values() + other.values()) / double(blocks)));
        both.left_ = both.length_;
        for (size_t i = 0; i < blocks; ++i)
            both.blocks_[i].excess = -both.values_in(i);
        both.spread(*this, blocks);
        both.spread(other, blocks);
        const double weights = both.weights();
        both.widening_ = weights > 0 ? both.widening_ / weights : 1;
        *this = both;
    }
    // Prefetches what add() needs.
    void prefetch() const
    {
        __builtin_prefetch(&current_, 1);
        __builtin_prefetch(&left_, 1);
    }
    size_t count() const { return full_ + (left_ < length_); }
    // Standard error of the sum of values divided by the sum of weights; 0 for fewer than two
    // blocks.
    double standard_error() const
    {
        const double weights = this->weights();
        double values = 0, squares = 0;
        for (size_t i = 0; i < kBlocks; ++i)
            values += block(i).value;
        if (count() < 2 || !(weights > 0))
            return 0;
        for (size_t i = 0; i < kBlocks; ++i) {
            const double left_over = block(i).value - values / weights * weight(i);
            squares += left_over * left_over;
        }
        const double n = double(count());
        return std::sqrt(widening_ * squares * n / (n - 1)) / weights;
    }

private:
    struct Block {
        double excess = 0; // of the weight over the number of values
        double value = 0;
    };

    void next_block()
    {
        blocks_[full_] = current_;
        current_ = {};
        left_ = length_;
        if (++full_ < kBlocks)
            return;
        for (size_t i = 0; i < kBlocks / 2; ++i)
            blocks_[i] = {blocks_[2 * i].excess + blocks_[2 * i + 1].excess,
                          blocks_[2 * i].value + blocks_[2 * i + 1].value};
        for (size_t i = kBlocks / 2; i < kBlocks; ++i)
            blocks_[i] = {};
        full_ = kBlocks / 2;
        length_ *= 2;
        left_ = length_;
    }
    const Block &block(size_t i) const { return i == full_ ? current_ : blocks_[i]; }
    double values() const { return double((full_ + 1) * length_ - left_); }
    double weights() const
    {
        double sum = 0;
        for (size_t i = 0; i < kBlocks; ++i)
            sum += weight(i);
        return sum;
    }
    double values_in(size_t block) const
    {
        return block < full_ ? double(length_) : block == full_ ? double(length_ - left_) : 0;
    }
    double weight(size_t block) const { return this->block(block).excess + values_in(block); }
    // Distributes the blocks of `from` evenly over `blocks` of these.  A block that lies in two of
    // these makes both alike, so their spread is too small, by the factor that is added to
    // `widening_` with the weight of `from`.
    void spread(const Blocks &from, size_t blocks)
    {
        const double width = double(blocks) / from.values(); // of one value
        double squares = 0;                                  // of the shares
        for (size_t i = 0; i < from.count(); ++i) {
            const double begin = double(i * from.length_) * width,
                         end = std::min(double(blocks), begin + double(from.length_) * width);
            for (auto at = size_t(begin); at < blocks && double(at) < end; ++at) {
                const double share =
                    (std::min(end, double(at + 1)) - std::max(begin, double(at))) / (end - begin);
                blocks_[at].excess += share * from.weight(i);
                blocks_[at].value += share * from.block(i).value;
                squares += share * share;
            }
        }
        widening_ += from.weights() * from.widening_ * double(from.count()) / squares;
    }

    std::array<Block, kBlocks> blocks_{}; // those that are full
    size_t full_ = 0;
    Block current_;       // the one after them
    uint64_t left_ = 1;   // values that it still takes
    uint64_t length_ = 1; // values in a block
    double widening_ = 1; // of the variance, after merge()
};
} // namespace nsdump
