// SPDX-License-Identifier: MIT
// live_frames in builds without libbpf: work -> a refusal.
#include "live_frames.hpp"

namespace mapi_gen
{
std::vector<std::unique_ptr<Sender>> make_live_frames(const std::vector<Work> &)
{
    throw Refusal("XDP live frames: unavailable: built without libbpf");
}
} // namespace mapi_gen
