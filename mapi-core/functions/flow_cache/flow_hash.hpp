// SPDX-License-Identifier: MIT
// Flow hash: a flow's key -> 64 bits that nobody outside can foresee.
#pragma once

#include <cstdint>

#include "functions/flow_cache/flow_packet.hpp"

namespace mapi::functions
{
// XXH3 with a random secret of each object's own: who does not know it cannot choose flows that collide.
class FlowHash
{
public:
    // Throws std::runtime_error when the system gives no random bytes.
    FlowHash();

    uint64_t operator()(const FlowKey &key) const;

private:
    uint8_t secret_[192]; // as long as the library's own
};
} // namespace mapi::functions
