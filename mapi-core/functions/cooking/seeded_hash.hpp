// SPDX-License-Identifier: MIT
// Seeded hash: a sender of packets cannot predict which keys collide.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mapi::cooking
{
class SeededHash
{
public:
    SeededHash(); // each with a different seed
    size_t of(const void *bytes, size_t count) const;

private:
    uint64_t seed_;
};
} // namespace mapi::cooking
