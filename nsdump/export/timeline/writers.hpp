// SPDX-License-Identifier: MIT
// export: the formats that a timeline can be written in.
#pragma once

#include <memory>
#include <string>

#include "export/timeline/writer.hpp"

namespace nsdump
{
// Perfetto's trace format: packets with TrackEvents, one after the other.
std::unique_ptr<TimelineWriter> perfetto_writer();
// Chrome's JSON; valid once tail() was called.
std::unique_ptr<TimelineWriter> chrome_writer();
} // namespace nsdump
