// SPDX-License-Identifier: MIT
// analyse: contents of slices -> small numbers; the rare paths.
#include "analyse/statistics/batch_shapes.hpp"

#include "analyse/correct/subtract.hpp"

namespace nsdump
{
BatchShapes::Slot &BatchShapes::find(uint64_t key)
{
    size_t at = place_of(key);
    while (slots_[at].id_and_one != 0 && slots_[at].key != key)
        at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
}

void BatchShapes::grow()
{
    std::vector<Slot> before(2 * slots_.size());
    before.swap(slots_);
    for (const Slot &slot : before)
        if (slot.id_and_one != 0)
            find(slot.key) = slot;
}

void BatchShapes::note_leaf(const Slice &slice)
{
    if (leaf_of(slice) >= leaves_.size())
        leaves_.resize(leaf_of(slice) + 1);
    leaves_[leaf_of(slice)] = uint32_t(shapes_.size());
}

size_t BatchShapes::find_slowly(uint64_t key, const Slice &slice)
{
    if (const Slot &known = find(key); known.id_and_one != 0)
        return known.id_and_one - 1;
    if (shapes_.size() == kMax)
        return kMax;
    if (2 * shapes_.size() >= slots_.size())
        grow();
    const FieldConstants &constants = correction_.of(slice.cpu_index, 0);
    const SelfInside inside{own_probes(slice.inside, slice.in_children), slice.children};
    shapes_.push_back({{slice.inside, slice.cpu_index, slice.unit != nullptr, slice.children > 0},
                       slice.in_children,
                       slice.children,
                       -net_of(0, slice.inside, constants),
                       self_subtracted(inside, constants)});
    find(key) = {key, shapes_.size()};
    if (slice.children == 0 && anything_in(slice).is_within({}))
        note_leaf(slice);
    return shapes_.size() - 1;
}
} // namespace nsdump
