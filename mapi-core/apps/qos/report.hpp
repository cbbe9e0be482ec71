// SPDX-License-Identifier: MIT
// report: a store and two points -> what happened between them, printed.
#pragma once

#include "qos/options.hpp"

namespace qos
{
// Returns an exit code.  Throws StoreAway, StoreError.
int report(const ReportOptions &options);
} // namespace qos
