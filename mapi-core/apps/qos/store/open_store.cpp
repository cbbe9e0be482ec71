// SPDX-License-Identifier: MIT
// open_store: a location -> the database behind it.
#include "qos/store/postgresql_store.hpp"
#include "qos/store/sqlite_store.hpp"
#include "qos/store/store.hpp"

namespace qos
{
std::unique_ptr<Store> open_store(const std::string &location, Access access)
{
    for (const char *const scheme : {"postgresql://", "postgres://"})
        if (location.starts_with(scheme))
            return open_postgresql(location, access);
    return open_sqlite(location, access);
}
} // namespace qos
