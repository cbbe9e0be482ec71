// SPDX-License-Identifier: MIT
// stacks: frames -> folded stacks, as flamegraph.pl, inferno and others read them.
#include "export/stacks/stack_writers.hpp"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace nsdump
{
void write_folded(const StackFrames &frames, const NameTable &names, std::string &out,
                  const Flush &flush)
{
    std::string stack;
    std::vector<size_t> ends; // by depth: where the frames around end in `stack`
    for (const StackFrame &frame : frames) {
        ends.resize(frame.depth);
        stack.resize(frame.depth > 0 ? ends.back() : 0);
        if (frame.depth > 0)
            stack += ';';
        stack += frame_text(names, frame);
        ends.push_back(stack.size());
        if (frame.slices > 0)
            fmt::format_to(std::back_inserter(out), "{} {:.0f}\n", stack, std::round(frame.self));
        flush();
    }
}
} // namespace nsdump
