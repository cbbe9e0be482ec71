// SPDX-License-Identifier: MIT
// stacks: frames -> folded stacks, a speedscope profile, or an SVG flame graph; declares all.
#pragma once

#include <functional>
#include <string>

#include "export/stacks/stack_frames.hpp"

namespace nsdump
{
// Writers append to `out`, and call `flush` from time to time, which may empty it.
using Flush = std::function<void()>;

struct StackTitles {
    std::string trace;  // its name
    std::string weight; // "net ns"
    std::string unit;   // "ns"
    bool is_time = true;
    std::string note; // what is not in the graph; empty if nothing
};

// A line for each stack: frames with ; between them, and its self value as a whole number.  Lines
// have FrameOrder::name.
void write_folded(const StackFrames &frames, const NameTable &names, std::string &out,
                  const Flush &flush);
void write_speedscope(const StackFrames &frames, const NameTable &names, const StackTitles &titles,
                      std::string &out, const Flush &flush);
// Frames have FrameOrder::total.  Returns the number of frames that are too narrow to be drawn.
uint64_t write_flame_graph(const StackFrames &frames, const NameTable &names,
                           const StackTitles &titles, std::string &out, const Flush &flush);
} // namespace nsdump
