// SPDX-License-Identifier: MIT
// postgresql_store: a database of PostgreSQL as a store.
#pragma once

#include <memory>
#include <string>

#include "qos/store/store.hpp"

namespace qos
{
// address: postgresql://...  Throws StoreAway, StoreError.
std::unique_ptr<Store> open_postgresql(const std::string &address, Access access);
} // namespace qos
