// SPDX-License-Identifier: MIT
// stacks: a tree of stacks -> its frames in the order in which they are written.
#include "export/stacks/stack_frames.hpp"

#include <algorithm>

#include "export/escape.hpp"

namespace nsdump
{
namespace
{
struct Sums {
    double total = 0, net = 0;
    uint64_t slices = 0; // also of the frames inside
};

std::vector<Sums> sums_of(const std::vector<StackNode> &nodes)
{
    std::vector<Sums> sums(nodes.size());
    for (size_t place = nodes.size(); place-- > 0;) {
        const StackNode &node = nodes[place];
        Sums &own = sums[place];
        own.total += std::max(node.self, 0.0);
        own.net += node.self;
        own.slices += node.slices;
        if (place == StackTree::kRoot)
            break;
        Sums &around = sums[node.parent];
        around.total += own.total;
        around.net += own.net;
        around.slices += own.slices;
    }
    return sums;
}

const std::string &text_of(const NameTable &names, NameId name)
{
    static const std::string other = kOtherFrame;
    return name == NameTable::kNone ? other : names[name].text;
}

// The nodes with slices, sorted by the node around them and then as `order` says.
std::vector<uint32_t> sorted_nodes(const StackTree &tree, const std::vector<Sums> &sums,
                                   const NameTable &names, FrameOrder order)
{
    const std::vector<StackNode> &nodes = tree.nodes();
    std::vector<uint32_t> sorted;
    for (uint32_t place = 1; place < nodes.size(); ++place)
        if (sums[place].slices > 0)
            sorted.push_back(place);
    std::ranges::sort(sorted, [&](uint32_t a, uint32_t b) {
        const StackNode &one = nodes[a], &two = nodes[b];
        if (one.parent != two.parent)
            return one.parent < two.parent;
        if (order == FrameOrder::total && sums[a].total != sums[b].total)
            return sums[a].total > sums[b].total;
        if (one.name != two.name)
            return text_of(names, one.name) < text_of(names, two.name);
        return one.is_unit > two.is_unit;
    });
    return sorted;
}
} // namespace

StackFrames frames_of(const StackTree &tree, const NameTable &names, FrameOrder order)
{
    const std::vector<StackNode> &nodes = tree.nodes();
    const std::vector<Sums> sums = sums_of(nodes);
    const std::vector<uint32_t> sorted = sorted_nodes(tree, sums, names, order);
    const auto first_in = [&](uint32_t place) {
        return std::ranges::lower_bound(sorted, place, {},
                                        [&](uint32_t node) { return nodes[node].parent; });
    };
    StackFrames out;
    out.total = sums[StackTree::kRoot].total;
    out.other_slices = nodes[StackTree::kOther].slices;
    out.frames.reserve(sorted.size());
    std::vector<std::vector<uint32_t>::const_iterator> path = {first_in(StackTree::kRoot)};
    std::vector<uint32_t> around = {StackTree::kRoot};
    while (!path.empty()) {
        auto &next = path.back();
        if (next == sorted.end() || nodes[*next].parent != around.back()) {
            path.pop_back();
            around.pop_back();
            continue;
        }
        const uint32_t place = *next++;
        const StackNode &node = nodes[place];
        out.frames.push_back({node.name, node.is_unit, uint32_t(path.size() - 1), node.slices,
                              std::max(node.self, 0.0), sums[place].total, sums[place].net,
                              node.raw});
        if (node.self < 0) {
            ++out.negative;
            out.negative_sum += node.self;
        }
        around.push_back(place);
        path.push_back(first_in(place));
    }
    return out;
}

std::string frame_text(const NameTable &names, const StackFrame &frame)
{
    std::string text = printable_utf8(text_of(names, frame.name));
    std::ranges::replace(text, ';', ':');
    return text;
}
} // namespace nsdump
