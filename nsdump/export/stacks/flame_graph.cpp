// SPDX-License-Identifier: MIT
// stacks: frames -> an SVG flame graph that can be searched and zoomed, the widest frames first.
#include "export/stacks/stack_writers.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "export/columns.hpp"
#include "export/escape.hpp"
#include "flame_graph_template.hpp"

namespace nsdump
{
namespace
{
constexpr double kWidth = 1180, kCharacter = 7.23, kPadding = 3; // as in the template
constexpr int kRow = 18, kTop = 54, kBottom = 30;
// Of the whole: 0.1 of a pixel.  Limits the file, whatever the number of stacks.
constexpr double kLeastShare = 1e-4;

std::string amount(double value, const StackTitles &titles)
{
    if (!titles.is_time)
        return fmt::format("{:.0f} {}", value, titles.unit);
    const double size = std::fabs(value);
    if (size < 1e3)
        return fmt::format("{:.0f} ns", value);
    if (size < 1e6)
        return fmt::format("{:.3g} \u00b5s", value / 1e3);
    if (size < 1e9)
        return fmt::format("{:.3g} ms", value / 1e6);
    return fmt::format("{:.4g} s", value / 1e9);
}

// Depends on the name only, so that a function has its colour in every graph.
std::string colour_of(const std::string &name, bool is_unit)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (const char letter : name)
        hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
    hash ^= hash >> 15;
    const unsigned a = hash % 64, b = hash / 64 % 64;
    if (is_unit)
        return fmt::format("#{:02x}{:02x}{:02x}", 168 + a / 2, 205 + b / 4, 170 + a / 2);
    if (name.rfind(kKernelPrefix, 0) == 0)
        return fmt::format("#{:02x}{:02x}{:02x}", 120 + a, 175 + b / 2, 225 + a / 4);
    return fmt::format("#{:02x}{:02x}{:02x}", 225 + a / 4, 130 + b * 3 / 2, 70 + a);
}

// As much of the name as fits, by the usual width of a letter, for viewers that run no scripts. The
// script measures the names.
std::string label_of(const std::string &name, double pixels)
{
    const double room = std::floor((pixels - 2 * kPadding) / kCharacter);
    constexpr double kLeast = 3;
    if (room < std::min(double(display_width(name)), kLeast))
        return "";
    return cut_to(name, size_t(room), "\u2026");
}

struct Drawing {
    const StackTitles &titles;
    double total = 0;
    uint64_t omitted = 0;
    std::string &out;

    void draw(const std::string &name, const std::string &fill, const std::string &title,
              uint32_t row, double x, double width)
    {
        const double left = kWidth * x, pixels = kWidth * width;
        const std::string text = xml_text(label_of(name, pixels));
        fmt::format_to(
            std::back_inserter(out),
            "<g class=\"frame\" data-n=\"{}\" data-x=\"{:.8f}\" data-w=\"{:.8f}\" data-d=\"{}\">"
            "<title>{}</title><rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" "
            "fill=\"{}\"/><text x=\"{:.2f}\" y=\"{}\">{}</text></g>\n",
            xml_text(name), x, width, row, xml_text(title), left, kTop + kRow * int(row), pixels,
            kRow - 1, fill, left + kPadding, kTop + kRow * int(row) + 13, text);
    }
};

std::string title_of(const StackFrame &frame, const std::string &name, const Drawing &drawing)
{
    const StackTitles &titles = drawing.titles;
    std::string title =
        fmt::format("{}: {} {} ({:.2f} %)", name, titles.weight.substr(0, titles.weight.find(' ')),
                    amount(frame.net, titles), 100 * frame.total / drawing.total);
    if (frame.is_unit)
        return title + ", in this unit";
    if (frame.slices == 0)
        return title + ", slices inside it only";
    title += fmt::format(", itself {}; {} {}", amount(frame.self, titles), frame.slices,
                         frame.slices == 1 ? "slice" : "slices");
    return title + ", raw " + amount(frame.raw, titles);
}

void draw_frames(const StackFrames &frames, const NameTable &names, Drawing &drawing,
                 const Flush &flush)
{
    std::vector<double> next = {0}; // by depth: where the next frame begins, as part of the whole
    uint32_t skipped_below = ~uint32_t{0};
    for (const StackFrame &frame : frames) {
        const double share = frame.total / drawing.total;
        if (frame.depth > skipped_below || share < kLeastShare) {
            ++drawing.omitted;
            skipped_below = std::min(skipped_below, frame.depth);
            if (frame.depth == skipped_below && frame.depth < next.size())
                next[frame.depth] += share;
            continue;
        }
        skipped_below = ~uint32_t{0};
        next.resize(frame.depth + 1);
        const double x = next[frame.depth];
        next[frame.depth] += share;
        next.push_back(x);
        const std::string name =
            frame.name == NameTable::kNone ? kOtherFrame : printable_utf8(names[frame.name].text);
        drawing.draw(name, colour_of(name, frame.is_unit), title_of(frame, name, drawing),
                     frame.depth + 1, x, share);
        flush();
    }
}

int rows_of(const StackFrames &frames)
{
    uint32_t deepest = 0;
    for (const StackFrame &frame : frames)
        if (frame.total >= kLeastShare * frames.total)
            deepest = std::max(deepest, frame.depth + 1);
    return int(deepest) + 1;
}

// Appends the template up to the name, with the values of the names before it.
std::string_view append_until(std::string_view rest, std::string_view name,
                              const std::map<std::string_view, std::string> &values,
                              std::string &out)
{
    while (!rest.empty()) {
        const size_t at = rest.find('$');
        out += rest.substr(0, at);
        if (at == rest.npos)
            return {};
        rest.remove_prefix(at + 1);
        if (rest.substr(0, name.size()) == name && !name.empty())
            return rest.substr(name.size());
        size_t length = 0;
        while (length < rest.size() && (std::islower(rest[length]) || rest[length] == '_'))
            ++length;
        if (const auto found = values.find(rest.substr(0, length)); found != values.end()) {
            out += found->second;
            rest.remove_prefix(length);
        } else {
            out += '$';
        }
    }
    return {};
}
} // namespace

uint64_t write_flame_graph(const StackFrames &frames, const NameTable &names,
                           const StackTitles &titles, std::string &out, const Flush &flush)
{
    const bool is_empty = frames.total <= 0;
    const int height = kTop + kRow * (is_empty ? 2 : rows_of(frames)) + kBottom;
    const std::string subtitle =
        is_empty ? "No slice has a value above 0."
                 : fmt::format("{} {} in all; click a frame to zoom in, press Esc to see all{}",
                               amount(frames.total, titles),
                               titles.weight.substr(0, titles.weight.find(' ')),
                               titles.note.empty() ? "" : "; " + titles.note);
    const std::map<std::string_view, std::string> values = {
        {"height", std::to_string(height)},
        {"title", xml_text("Stacks of " + titles.trace + ": " + titles.weight)},
        {"subtitle", xml_text(subtitle)},
        {"detail_y", std::to_string(height - 10)},
    };
    const std::string_view rest = append_until(kFlameGraphTemplate, "frames", values, out);
    Drawing drawing{.titles = titles, .total = frames.total, .out = out};
    if (!is_empty) {
        drawing.draw("all", "#d8d8d8", "all: " + amount(frames.total, titles), 0, 0, 1);
        draw_frames(frames, names, drawing, flush);
    }
    append_until(rest, "", values, out);
    flush();
    return drawing.omitted;
}
} // namespace nsdump
