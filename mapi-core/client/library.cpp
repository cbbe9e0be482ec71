// SPDX-License-Identifier: MIT
// Library: wires the catalogues to the engine.
#include "client/library.hpp"

#include "drivers/catalog.hpp"
#include "functions/catalog.hpp"

namespace mapi::client
{
Library::Library() : registry(functions::catalog(), drivers::catalog()), devices(registry)
{
}

Library &library()
{
    static Library *const instance = new Library;
    return *instance;
}
} // namespace mapi::client
