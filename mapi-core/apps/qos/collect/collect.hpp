// SPDX-License-Identifier: MIT
// collect: packets that pass a point -> a run in the store.
#pragma once

#include "qos/options.hpp"

namespace qos
{
// Returns an exit code.  Throws MapiError, StoreAway, StoreError.
int collect(const CollectOptions &options);
} // namespace qos
