// SPDX-License-Identifier: MIT
// stacks: a tree of stacks -> its frames in the order in which they are written, each before those
// inside it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "export/stacks/stack_tree.hpp"

namespace nsdump
{
// The name of the frame of stacks beyond StackTree::kMaxStacks.
inline constexpr const char *kOtherFrame = "(other)";

struct StackFrame {
    NameId name = NameTable::kNone; // kNone: kOtherFrame
    bool is_unit = false;
    uint32_t depth = 0;
    uint64_t slices = 0;
    double self = 0;  // at least 0
    double total = 0; // self of this frame and of those inside it
    double net = 0;   // the same without raising self to 0
    double raw = 0;
};

struct StackFrames {
    std::vector<StackFrame> frames; // without frames in which no slice was counted
    double total = 0;               // of all frames
    // Self values below 0: measurement noise is more than what the slices took.
    uint64_t negative = 0;
    double negative_sum = 0;
    uint64_t other_slices = 0;

    const StackFrame *begin() const { return frames.data(); }
    const StackFrame *end() const { return frames.data() + frames.size(); }
};

enum class FrameOrder { name, total }; // of the frames inside the same one: A to Z, largest first

StackFrames frames_of(const StackTree &tree, const NameTable &names, FrameOrder order);

// The name without control characters and what separates frames.
std::string frame_text(const NameTable &names, const StackFrame &frame);
} // namespace nsdump
