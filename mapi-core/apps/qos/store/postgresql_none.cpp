// SPDX-License-Identifier: MIT
// postgresql_store, built without libpq.
#include "qos/store/postgresql_store.hpp"

namespace qos
{
std::unique_ptr<Store> open_postgresql(const std::string &, Access)
{
    throw StoreError("unavailable: built without libpq");
}
} // namespace qos
