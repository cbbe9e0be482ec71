// SPDX-License-Identifier: MIT
// Flow hash: a flow's key -> 64 bits that an outsider cannot predict.
#pragma once

#include <cstdint>

#include "functions/flow_cache/flow_packet.hpp"

namespace mapi::functions
{
// XXH3 with a random secret per object: an outsider cannot choose flows that collide.
class FlowHash
{
public:
    // Throws std::runtime_error if the system provides no random bytes.
    FlowHash();

    uint64_t operator()(const FlowKey &key) const;

private:
    uint8_t secret_[192]; // as long as the library's default
};
} // namespace mapi::functions
