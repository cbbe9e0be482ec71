// SPDX-License-Identifier: MIT
// sqlite_store: a file of SQLite as a store.
#pragma once

#include <memory>
#include <string>

#include "qos/store/store.hpp"

namespace qos
{
// Throws StoreAway, StoreError.
std::unique_ptr<Store> open_sqlite(const std::string &path, Access access);
} // namespace qos
