// SPDX-License-Identifier: MIT
// Plug-ins: shared objects that mapi.conf names -> tables.
#include "engine/registry/plugins.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>

#include "engine/config/config_file.hpp"
#include "engine/config/config_values.hpp"
#include "engine/error.hpp"
#include "engine/registry/old_drivers.hpp"

namespace mapi::engine
{
namespace
{
// MAPI 2's own libraries, whose functions are built in here or belong to hardware.
constexpr std::array kOldLibraries = {"stdflib.so",      "extraflib.so", "anonflib.so",
                                      "trackflib.so",    "ipfixflib.so", "dagflib.so",
                                      "napatechflib.so", "rulerflib.so", "combo6flib.so"};

// Throws Error without file and line.
const struct mapi_plugin &open_plugin(const std::string &path)
{
    void *const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        throw Error(MAPI_CONFIG_ERROR, dlerror());
    const auto *plugin = static_cast<const struct mapi_plugin *>(dlsym(library, "mapi_plugin"));
    if (!plugin)
        throw Error(MAPI_CONFIG_ERROR,
                    path + ": not a plug-in: symbol mapi_plugin is missing (mapi/plugin.h)");
    if (plugin->abi != MAPI_PLUGIN_ABI || plugin->struct_size < sizeof(struct mapi_plugin))
        throw Error(MAPI_CONFIG_ERROR, path + ": has ABI " + std::to_string(plugin->abi) +
                                           ", not " + std::to_string(MAPI_PLUGIN_ABI));
    return *plugin;
}

class Loader
{
public:
    Loader(std::string config, ConfigNotes &notes) : config_(std::move(config)), notes_(notes) {}

    void load_libraries(const ConfigSection &top)
    {
        const ConfigKey *libs = top.find("libs");
        for (const std::string &name :
             libs ? config_list(libs->value) : std::vector<std::string>()) {
            if (is_plugin_library(name))
                load(*libs, name, "libpath", top);
        }
    }

    // The driver of a section [driver] or [format].
    void load_driver(const ConfigSection &section, const ConfigSection &top)
    {
        const ConfigKey *driver = section.find("driver");
        if (!driver || !is_plugin_driver(driver->value) || plugins_.names.contains(driver->value))
            return;
        const struct mapi_plugin *plugin = load(*driver, driver->value, "drvpath", top);
        if (!plugin)
            return;
        if (!plugin->drivers || !plugin->drivers[0] || plugin->drivers[1])
            notes_.error(driver->line,
                         "driver=" + driver->value + ": has " +
                             (plugin->drivers && plugin->drivers[0]
                                  ? "several drivers; load it with libs= and specify one of them"
                                  : "no driver"));
        else
            plugins_.driver_of_file[driver->value] = plugin->drivers[0]->name;
    }

    Plugins take() { return std::move(plugins_); }

private:
    const struct mapi_plugin *load(const ConfigKey &line, const std::string &name,
                                   const char *path_key, const ConfigSection &top)
    {
        plugins_.names.insert(name);
        try {
            const ConfigKey *folders = top.find(path_key);
            // Starting a program in a directory must not run code from it.
            if (!std::filesystem::path(config_).is_absolute() && !std::getenv("MAPI_CONF"))
                throw Error(MAPI_CONFIG_ERROR, "plug-ins are loaded only from /etc/mapi.conf or "
                                               "the file that MAPI_CONF names");
            const std::string path = find_plugin(name, folders ? folders->value : "");
            if (path.empty())
                throw Error(MAPI_CONFIG_ERROR, std::string("not found in ") + path_key);
            const struct mapi_plugin &plugin = open_plugin(path);
            add(plugins_.functions, plugin.functions, notes_.place(line.line) + ": " + path);
            for (const mapi_function *const *function = plugin.functions; function && *function;
                 ++function)
                plugins_.libraries.try_emplace(*function, std::filesystem::path(path).stem());
            add(plugins_.drivers, plugin.drivers, notes_.place(line.line) + ": " + path);
            return &plugin;
        } catch (const Error &error) {
            notes_.error(line.line, line.key + "=" + name + ": " + error.what());
            return nullptr;
        }
    }

    // A plug-in may be named twice.
    template <class Table>
    void add(std::vector<const Table *> &to, const Table *const *tables, const std::string &origin)
    {
        for (; tables && *tables; ++tables) {
            if (plugins_.origins.try_emplace(*tables, origin).second)
                to.push_back(*tables);
        }
    }

    const std::string config_;
    ConfigNotes &notes_;
    Plugins plugins_;
};
} // namespace

bool is_plugin_library(const std::string &lib)
{
    return std::find(kOldLibraries.begin(), kOldLibraries.end(), lib) == kOldLibraries.end();
}

bool is_plugin_driver(const std::string &driver)
{
    return driver.ends_with(".so") && !is_old_driver(driver);
}

std::string find_plugin(const std::string &name, const std::string &folders)
{
    std::error_code ignored;
    if (name.find('/') != std::string::npos)
        return name;
    for (const std::string &folder : config_list(folders)) {
        if (std::filesystem::exists(folder + "/" + name, ignored))
            return folder + "/" + name;
    }
    return {};
}

// If the file is missing or cannot be read, callers that need it report that.
Plugins load_plugins(std::vector<ConfigNote> *notes)
{
    const std::string config = find_config();
    ConfigNotes of_lines(config), own(config);
    std::vector<ConfigSection> sections;
    try {
        std::istringstream file = open_config(config);
        sections = split_config(file, of_lines);
    } catch (const Error &) {
        return {};
    }
    Loader loader(config, own);
    loader.load_libraries(sections.front());
    for (const ConfigSection &section : sections) {
        if (section.name == "driver" || section.name == "format")
            loader.load_driver(section, sections.front());
    }
    std::vector<ConfigNote> wrong = own.take();
    if (!notes && !wrong.empty())
        throw Error(MAPI_CONFIG_ERROR, wrong.front().text);
    if (notes)
        *notes = std::move(wrong);
    return loader.take();
}
} // namespace mapi::engine
