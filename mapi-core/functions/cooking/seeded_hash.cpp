// SPDX-License-Identifier: MIT
// Seeded hash: a sender of packets cannot predict which keys collide.
#include "functions/cooking/seeded_hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "functions/common/random_seed.hpp"

namespace mapi::cooking
{
SeededHash::SeededHash() : seed_(functions::random_seed()) {}

size_t SeededHash::of(const void *bytes, size_t count) const
{
    return XXH3_64bits_withSeed(bytes, count, seed_);
}
} // namespace mapi::cooking
