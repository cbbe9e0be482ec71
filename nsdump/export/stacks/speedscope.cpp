// SPDX-License-Identifier: MIT
// stacks: frames -> a profile in the file format of speedscope: sampled, with a weight for each
// stack.
#include "export/stacks/stack_writers.hpp"

#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "export/escape.hpp"

namespace nsdump
{
namespace
{
using FrameKey = std::pair<NameId, bool>; // name, is_unit

// Writes shared.frames; returns the place of each.
std::map<FrameKey, size_t> write_frames(const StackFrames &frames, const NameTable &names,
                                        std::string &out, const Flush &flush)
{
    std::map<FrameKey, size_t> places;
    for (const StackFrame &frame : frames) {
        if (!places.try_emplace({frame.name, frame.is_unit}, places.size()).second)
            continue;
        out += places.size() > 1 ? ",\n{\"name\":" : "\n{\"name\":";
        if (frame.name == NameTable::kNone) {
            out += json_string(kOtherFrame);
        } else {
            const Name &name = names[frame.name];
            out += json_string(name.text);
            if (!name.file.empty())
                fmt::format_to(std::back_inserter(out), ",\"file\":{},\"line\":{}",
                               json_string(name.file), name.line);
        }
        out += '}';
        flush();
    }
    return places;
}
} // namespace

void write_speedscope(const StackFrames &frames, const NameTable &names, const StackTitles &titles,
                      std::string &out, const Flush &flush)
{
    const auto to = std::back_inserter(out);
    out += "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n";
    fmt::format_to(to, "\"exporter\":\"nsdump\",\"name\":{},\n\"shared\":{{\"frames\":[",
                   json_string(titles.trace));
    const auto places = write_frames(frames, names, out, flush);
    fmt::format_to(to,
                   "]}},\n\"profiles\":[{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\","
                   "\"startValue\":0,\"endValue\":{:.3f},\n\"samples\":[",
                   json_string(titles.weight), titles.is_time ? "nanoseconds" : "none",
                   frames.total);
    std::vector<size_t> stack;
    const char *separator = "\n";
    for (const StackFrame &frame : frames) {
        stack.resize(frame.depth);
        stack.push_back(places.at({frame.name, frame.is_unit}));
        if (frame.slices == 0)
            continue;
        fmt::format_to(to, "{}[{}]", std::exchange(separator, ",\n"), fmt::join(stack, ","));
        flush();
    }
    out += "],\n\"weights\":[";
    separator = "";
    for (const StackFrame &frame : frames) {
        if (frame.slices == 0)
            continue;
        fmt::format_to(to, "{}{:.3f}", std::exchange(separator, ","), frame.self);
        flush();
    }
    out += "]}]}\n";
    flush();
}
} // namespace nsdump
