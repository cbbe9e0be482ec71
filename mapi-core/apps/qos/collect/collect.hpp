// SPDX-License-Identifier: MIT
// collect: packets that pass a point -> a run in the store.
#pragma once

#include "qos/options.hpp"

namespace qos
{
// Returns an exit code.  Throws captures_source::MapiError, StoreAway, StoreError.
int collect(const CollectOptions &options);
} // namespace qos
