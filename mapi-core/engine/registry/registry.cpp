// SPDX-License-Identifier: MIT
// Registry: name -> function table or driver table.
#include "engine/registry/registry.hpp"

#include "engine/error.hpp"
#include "engine/registry/function_name.hpp"
#include "engine/registry/old_drivers.hpp"
#include "engine/registry/table_check.hpp"

namespace mapi::engine
{
namespace
{
template <class Table> std::string names(const std::vector<const Table *> &tables)
{
    std::string list;
    for (const Table *table : tables)
        list += (list.empty() ? "" : ", ") + std::string(table->name);
    return list;
}

template <class Table>
const Table *find(const std::vector<const Table *> &tables, const std::string &name)
{
    for (const Table *table : tables) {
        if (name == table->name)
            return table;
    }
    return nullptr;
}

// With its origin if it is from a plug-in.
template <class Table> std::string full_name(const Table &table, const Plugins &plugins)
{
    const auto origin = plugins.origins.find(&table);
    return origin == plugins.origins.end() ? table.name : origin->second + ": " + table.name;
}

template <class Table>
void check(const std::vector<const Table *> &tables, uint32_t abi, const Plugins &plugins)
{
    for (const Table *table : tables) {
        if (!table->name || !table->description)
            throw Error(MAPI_INTERNAL_ERROR, "a function or driver has no name or description");
        const std::string name = full_name(*table, plugins);
        if (table->abi == abi && table->struct_size < sizeof(Table))
            throw Error(
                MAPI_INTERNAL_ERROR,
                name + ": its table was built with headers of an earlier version (rebuild it)");
        if (table->abi != abi)
            throw Error(MAPI_INTERNAL_ERROR,
                        name + ": its table has ABI " + std::to_string(table->abi) + ", not " +
                            std::to_string(abi) + " (rebuild it with the current headers)");
        if (find(tables, table->name) != table)
            throw Error(
                MAPI_CONFIG_ERROR,
                name +
                    ": defined by a plug-in, but a function or driver of that name already exists");
    }
}

template <class Table>
void check_consistency(const std::vector<const Table *> &tables, const Plugins &plugins)
{
    for (const Table *table : tables) {
        if (const std::string why = find_mistake(*table); !why.empty())
            throw Error(MAPI_INTERNAL_ERROR,
                        full_name(*table, plugins) + ": malformed table: " + why);
    }
}
} // namespace

Registry::Registry(std::span<const mapi_function *const> functions,
                   std::span<const mapi_driver *const> drivers, const Plugins &more)
    : functions_(functions.begin(), functions.end()), drivers_(drivers.begin(), drivers.end()),
      plugins_(more)
{
    functions_.insert(functions_.end(), more.functions.begin(), more.functions.end());
    drivers_.insert(drivers_.end(), more.drivers.begin(), more.drivers.end());
    check(functions_, MAPI_FUNCTION_ABI, more);
    check(drivers_, MAPI_DRIVER_ABI, more);
    check_consistency(functions_, more);
    check_consistency(drivers_, more);
}

bool Registry::is_in(const std::string &library, const mapi_function &function) const
{
    const auto plugin = plugins_.libraries.find(&function);
    if (plugin != plugins_.libraries.end())
        return plugin->second == library;
    return library == kOwnLibrary || has_function(library, function.name);
}

const mapi_function &Registry::function(const std::string &name) const
{
    const FunctionName parts = split_function_name(name);
    const mapi_function *const function = find(functions_, parts.function);
    if (!function)
        throw Error(MAPI_FUNCTION_NOT_FOUND,
                    "unknown function \"" + parts.function + "\"; available: " + names(functions_));
    if (name.find(':') != std::string::npos && !is_in(parts.library, *function)) {
        const auto plugin = plugins_.libraries.find(function);
        throw Error(MAPI_FUNCTION_NOT_FOUND,
                    name + ": library \"" + parts.library + "\" has no function " + parts.function +
                        "; it is in \"" +
                        (plugin == plugins_.libraries.end() ? kOwnLibrary : plugin->second) + "\"");
    }
    if (name.find('!') != std::string::npos && !is_served_in_software(parts.device_type))
        throw Error(MAPI_FUNCTION_NOT_FOUND, name + ": unsupported device type \"" +
                                                 parts.device_type +
                                                 "\"; available: 1, 1.3, 1.3.1 and 1.4 (software)");
    return *function;
}

const mapi_function &Registry::function_at(int number) const
{
    if (number < 0 || size_t(number) >= functions_.size())
        throw Error(MAPI_FUNCTION_NOT_FOUND, "function number " + std::to_string(number) +
                                                 " is out of range (0 to " +
                                                 std::to_string(functions_.size() - 1) + ")");
    return *functions_[size_t(number)];
}

bool Registry::has_driver(const std::string &name) const
{
    return find(drivers_, name) != nullptr;
}

const mapi_driver &Registry::driver(const std::string &name) const
{
    if (const mapi_driver *driver = find(drivers_, name))
        return *driver;
    throw Error(MAPID_NO_DRIVER, "unknown driver \"" + name + "\"; available: " + names(drivers_) +
                                     advice_for(name));
}
} // namespace mapi::engine
