// SPDX-License-Identifier: MIT
// Seeded hash: who sends packets cannot know which keys fall together.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mapi::cooking
{
class SeededHash
{
public:
    SeededHash(); // another seed each
    size_t of(const void *bytes, size_t count) const;

private:
    uint64_t seed_;
};
} // namespace mapi::cooking
