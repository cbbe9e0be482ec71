// SPDX-License-Identifier: MIT
// Plug-ins: shared objects that mapi.conf names -> tables.
#include "engine/plugins.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include <dlfcn.h>

#include "engine/config.hpp"
#include "engine/error.hpp"

namespace mapi::engine
{
namespace
{
// MAPI 2's own, whose functions are built in here, or are of hardware.
constexpr std::array kOldLibraries = {"stdflib.so", "extraflib.so", "anonflib.so", "trackflib.so", "ipfixflib.so", "dagflib.so", "napatechflib.so", "rulerflib.so", "combo6flib.so"};

std::vector<std::string> split(const std::string &list)
{
    std::vector<std::string> parts;
    std::istringstream input(list);
    for (std::string part; std::getline(input, part, ':');) {
        if (!part.empty())
            parts.push_back(part);
    }
    return parts;
}

// Of the lines "key=value"; empty when it is not there.
std::string value_of(const std::string &lines, const std::string &key)
{
    std::istringstream input(lines);
    for (std::string line; std::getline(input, line);) {
        if (line.compare(0, key.size() + 1, key + "=") == 0)
            return line.substr(key.size() + 1);
    }
    return {};
}

std::string find_library(const std::string &name, const std::vector<std::string> &folders, const std::string &config)
{
    if (name.find('/') != std::string::npos)
        return name;
    std::error_code ignored;
    for (const std::string &folder : folders) {
        if (std::filesystem::exists(folder + "/" + name, ignored))
            return folder + "/" + name;
    }
    throw Error(MAPI_CONFIG_ERROR, config + ": libs: " + name + " is in no folder of libpath");
}

void load(const std::string &path, Plugins &plugins)
{
    void *const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        throw Error(MAPI_CONFIG_ERROR, std::string("libs: ") + dlerror());
    const auto *plugin = static_cast<const struct mapi_plugin *>(dlsym(library, "mapi_plugin"));
    if (!plugin)
        throw Error(MAPI_CONFIG_ERROR, "libs: " + path + " has no mapi_plugin: it is no plug-in (mapi/plugin.h)");
    if (plugin->abi != MAPI_PLUGIN_ABI || plugin->struct_size < sizeof(struct mapi_plugin))
        throw Error(MAPI_CONFIG_ERROR, "libs: " + path + " is of ABI " + std::to_string(plugin->abi) + ", not " + std::to_string(MAPI_PLUGIN_ABI));
    for (const mapi_function *const *function = plugin->functions; function && *function; ++function) {
        plugins.functions.push_back(*function);
        plugins.libraries[*function] = std::filesystem::path(path).stem();
    }
    for (const mapi_driver *const *driver = plugin->drivers; driver && *driver; ++driver)
        plugins.drivers.push_back(*driver);
}

// Empty where there is no file, or none that can be read: who needs it says so.
std::string read_top(const std::string &config)
{
    if (config.empty())
        return {};
    try {
        std::istringstream file = open_config(config);
        return read_section(file, "");
    } catch (const Error &) {
        return {};
    }
}
} // namespace

Plugins load_plugins()
{
    Plugins plugins;
    const std::string config = find_config();
    const std::string top = read_top(config);
    const std::vector<std::string> folders = split(value_of(top, "libpath"));
    for (const std::string &name : split(value_of(top, "libs"))) {
        if (std::find(kOldLibraries.begin(), kOldLibraries.end(), name) != kOldLibraries.end())
            continue;
        // Who starts a program in a folder does not mean to run what lies there.
        if (!std::filesystem::path(config).is_absolute() && !std::getenv("MAPI_CONF"))
            throw Error(MAPI_CONFIG_ERROR, config + ": libs: " + name + ": plug-ins are loaded as /etc/mapi.conf says, or a file that MAPI_CONF names");
        load(find_library(name, folders, config), plugins);
    }
    return plugins;
}
} // namespace mapi::engine
