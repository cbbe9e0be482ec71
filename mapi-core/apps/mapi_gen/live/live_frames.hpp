// SPDX-License-Identifier: MIT
// live_frames: work -> XDP frames that the kernel makes and gives to the driver.
#pragma once

#include <memory>
#include <vector>

#include "mapi_gen/sender.hpp"

namespace mapi_gen
{
// One for each work.  The first sends its first packet at once, to find out whether the driver
// takes such frames.  Throws Refusal.
std::vector<std::unique_ptr<Sender>> make_live_frames(const std::vector<Work> &works);
} // namespace mapi_gen
