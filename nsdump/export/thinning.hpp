// SPDX-License-Identifier: MIT
// export: results of random thinning -> JSON and text; parts of the exporters.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "analyse/report.hpp"
#include "export/field_tables.hpp"

namespace nsdump
{
using Json = nlohmann::ordered_json;

const char *source_name(NetSource source);
Json slice_thinning_json(const SliceThinning &thinning);
Json thinning_json(const ThinningReport &thinning);
// Nothing for a trace without epochs.
std::string thinning_text(const StatsReport &report, const SliceList &slices);
} // namespace nsdump
