// SPDX-License-Identifier: MIT
// cli: --partition -> is it valid?
#pragma once

#include <string>

namespace nsdump
{
// A check for options: cpu, time=DURATION, or both with a comma between them, as
// python/netslice/parquet.py reads them.
std::string is_partition(const std::string &text);
} // namespace nsdump
