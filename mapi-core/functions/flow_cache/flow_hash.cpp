// SPDX-License-Identifier: MIT
// Flow hash: a flow's key -> 64 bits that an outsider cannot predict.
#include "functions/flow_cache/flow_hash.hpp"

#include <stdexcept>

#include <sys/random.h>

#define XXH_INLINE_ALL
#define XXH_NO_INLINE_HINTS 1 // gcc with sanitizers cannot honour them
#include <xxhash.h>

namespace mapi::functions
{
FlowHash::FlowHash()
{
    static_assert(sizeof(secret_) >= XXH3_SECRET_SIZE_MIN &&
                  sizeof(secret_) <= 256); // the system returns up to 256 bytes in full
    if (getrandom(secret_, sizeof(secret_), 0) != ssize_t(sizeof(secret_)))
        throw std::runtime_error("no random bytes from the system for the flow hash");
}

uint64_t FlowHash::operator()(const FlowKey &key) const
{
    return XXH3_64bits_withSecret(&key, sizeof(key), secret_, sizeof(secret_));
}
} // namespace mapi::functions
