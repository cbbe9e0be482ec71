// SPDX-License-Identifier: MIT
// Configuration: mapi.conf -> settings of devices, and errors and warnings with their lines.
#include "engine/config/config.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include "engine/config/config_keys.hpp"
#include "engine/config/config_values.hpp"
#include "engine/error.hpp"
#include "engine/packet_path/group_number.hpp"
#include "engine/registry/old_drivers.hpp"

namespace mapi::engine
{
namespace
{
constexpr const char *kAtStart = "plug-ins are loaded only at startup";

class Reader
{
public:
    Reader(ConfigNotes &notes, const Registry &registry) : notes_(notes), registry_(registry) {}

    void read(const ConfigSection &section)
    {
        if (section.name == "driver")
            return read_device(section);
        if (has_known_keys(section.name)) // including the part before the first section
            check_keys(section, notes_);
        else if (!check_function_section(section))
            notes_.warn(section.line, "unknown section [" + section.name + "]" +
                                          suggest(section.name, section_names()) + "; ignored");
        if (section.name == "format")
            read_format(section);
        if (!section.name.empty())
            return;
        check_plugins(section);
    }

    Config take() { return std::move(config_); }

private:
    struct Claim {
        unsigned line;
        std::string alias_of; // empty if it is a device's name
    };

    std::vector<std::string> section_names() const
    {
        std::vector<std::string> names = {"driver", "format", "dag"};
        for (const mapi_function *function : registry_.functions()) {
            if (function->config)
                names.emplace_back(function->config->section);
        }
        return names;
    }

    void check_plugins(const ConfigSection &top)
    {
        const ConfigKey *libpath = top.find("libpath"), *libs = top.find("libs");
        for (const ConfigKey *folders : {libpath, top.find("drvpath")}) {
            std::error_code ignored;
            for (const std::string &folder :
                 folders ? config_list(folders->value) : std::vector<std::string>()) {
                if (!std::filesystem::is_directory(folder, ignored))
                    notes_.warn(folders->line,
                                folders->key + "=" + folder + ": is not a directory");
            }
        }
        for (const std::string &name :
             libs ? config_list(libs->value) : std::vector<std::string>()) {
            if (!is_plugin_library(name) || registry_.plugins().names.contains(name))
                continue;
            if (find_plugin(name, libpath ? libpath->value : "").empty())
                notes_.error(libs->line, "libs=" + name + ": not found in libpath");
            else
                notes_.warn(libs->line, "libs=" + name + ": is not loaded: " + kAtStart);
        }
    }

    // False if no function reads the section.
    bool check_function_section(const ConfigSection &section)
    {
        const auto all = registry_.functions();
        const auto reader =
            std::find_if(all.begin(), all.end(), [&](const mapi_function *function) {
                return function->config && section.name == function->config->section;
            });
        if (reader == all.end())
            return false;
        for (const ConfigKey &line : section.keys) {
            char text[512] = "";
            const auto check_line = (*reader)->config->check_line;
            const int verdict =
                check_line ? check_line(line.key.c_str(), line.value.c_str(), text, sizeof(text))
                           : MAPI_CONFIG_LINE_GOOD;
            if (verdict == MAPI_CONFIG_LINE_WRONG)
                notes_.error(line.line, "[" + section.name + "] " + text);
            else if (verdict == MAPI_CONFIG_LINE_WITHOUT_EFFECT)
                notes_.warn(line.line,
                            "[" + section.name + "] " + line.key + "= has no effect: " + text);
        }
        return true;
    }

    void read_format(const ConfigSection &section)
    {
        const ConfigKey *format = section.find("format"), *driver = section.find("driver");
        if (!format || !driver)
            return notes_.error(section.line, std::string("[format] requires ") +
                                                  (format ? "driver=" : "format="));
        const std::optional<int> number = capture_format(format->value);
        if (!number)
            return notes_.error(
                format->line,
                "format=" + format->value +
                    ": must be MFF_PCAP, MFF_RAW, MFF_DAG_ERF, MFF_COMBO6 or MFF_NAPATECH");
        const std::string name = find_driver(*driver, present_file_driver(driver->value));
        if (registry_.has_driver(name) && !registry_.driver(name).live)
            config_.format_drivers[*number] = name;
        else if (registry_.has_driver(name))
            notes_.error(driver->line, "driver=" + driver->value + ": reads interfaces, not files");
        else if (is_old_driver(name))
            notes_.warn(driver->line, "driver=" + driver->value + advice_for(name));
        else if (!is_plugin_driver(name))
            refuse_driver(*driver, name);
    }

    void read_device(const ConfigSection &section)
    {
        DeviceSettings device;
        std::vector<unsigned> option_lines;
        device.origin = notes_.place(section.line);
        for (const ConfigKey &line : section.keys) {
            try {
                const std::string no_effect = device.set(line.key, line.value);
                if (!no_effect.empty())
                    notes_.warn(line.line, line.key + "= has no effect: " + no_effect);
                option_lines.resize(device.options.size(), line.line);
            } catch (const Error &error) {
                notes_.error(line.line, error.what());
            }
        }
        if (device.name.empty())
            return notes_.error(section.line, "[driver] requires device=");
        if (device.path.empty())
            device.path = device.name;
        const ConfigKey *driver = section.find("driver");
        device.driver = present_driver(device.driver, device.path);
        if (driver)
            device.driver = find_driver(*driver, device.driver);
        claim_names(device, section);
        check_driver(device, driver ? driver->line : section.line);
        check_options(device, option_lines);
        check_machine(device, section);
        config_.devices.push_back(std::move(device));
    }

    // A name or alias of two devices would hide the second one.
    void claim_names(const DeviceSettings &device, const ConfigSection &section)
    {
        if (const auto [other, is_new] = names_.try_emplace(device.name, Claim{section.line, ""});
            !is_new && other->second.alias_of.empty())
            notes_.error(section.line, "device " + device.name + " is already defined at " +
                                           notes_.place(other->second.line));
        else if (!is_new)
            notes_.error(section.find("device")->line,
                         "device=" + device.name + ": is already the alias of device " +
                             other->second.alias_of + ", at " + notes_.place(other->second.line));
        if (device.alias.empty() || device.alias == device.name)
            return;
        const unsigned line = section.find("alias")->line;
        const auto [other, is_new] = names_.try_emplace(device.alias, Claim{line, device.name});
        if (!is_new)
            notes_.error(line, "alias=" + device.alias + ": is already " +
                                   (other->second.alias_of.empty()
                                        ? "the name of a device"
                                        : "the alias of device " + other->second.alias_of) +
                                   ", at " + notes_.place(other->second.line));
    }

    // Only warnings: the group and the file may exist later.
    void check_machine(const DeviceSettings &device, const ConfigSection &section)
    {
        const ConfigKey *group = section.find("group"), *path = section.find("path");
        if (group && !device.group.empty() && !group_number(device.group))
            notes_.warn(group->line,
                        "group=" + device.group + ": no such group; only root may use the device");
        const mapi_driver *const table =
            registry_.has_driver(device.driver) ? &registry_.driver(device.driver) : nullptr;
        const bool reads_file =
            table && !table->live && !registry_.plugins().origins.contains(table);
        if (path && reads_file && access(device.path.c_str(), F_OK) < 0)
            notes_.warn(path->line, "path=" + device.path + ": " + strerror(errno));
    }

    // Replaces the name of a plug-in by the name of its driver.
    std::string find_driver(const ConfigKey &line, const std::string &name)
    {
        if (!is_plugin_driver(name))
            return name;
        const Plugins &plugins = registry_.plugins();
        const auto found = plugins.driver_of_file.find(name);
        if (found != plugins.driver_of_file.end())
            return found->second;
        if (!plugins.names.contains(name)) // errors of others were reported when they were loaded
            notes_.error(line.line, "driver=" + name + ": is not loaded: " + kAtStart);
        return name;
    }

    // Only a warning, since the other devices can be used; opening the device reports it again.
    void check_driver(const DeviceSettings &device, unsigned line)
    {
        try {
            if (!is_plugin_driver(device.driver)) // errors of plug-ins are already reported
                registry_.driver(device.driver);
        } catch (const Error &error) {
            notes_.warn_of_lost_device(line, "device " + device.name +
                                                 ": cannot be opened: " + error.what());
        }
    }

    void refuse_driver(const ConfigKey &line, const std::string &name)
    {
        try {
            registry_.driver(name);
        } catch (const Error &error) {
            notes_.error(line.line, "driver=" + line.value + ": " + error.what());
        }
    }

    void check_options(const DeviceSettings &device, const std::vector<unsigned> &lines)
    {
        if (!registry_.has_driver(device.driver))
            return;
        const mapi_driver &driver = registry_.driver(device.driver);
        DeviceSettings one = device;
        for (size_t i = 0; i < device.options.size(); ++i) {
            one.options = {device.options[i]};
            try {
                one.option_values(driver);
            } catch (const Error &error) {
                notes_.error(lines[i], error.what());
            }
        }
    }

    ConfigNotes &notes_;
    const Registry &registry_;
    std::map<std::string, Claim> names_; // and aliases
    Config config_;
};
} // namespace

void Config::require_no_error() const
{
    for (const ConfigNote &note : notes) {
        if (note.is_error)
            throw Error(MAPI_CONFIG_ERROR, note.text);
    }
}

std::vector<std::string> Config::warnings() const
{
    std::vector<std::string> texts;
    for (const ConfigNote &note : notes) {
        if (!note.is_error)
            texts.push_back(note.text);
    }
    return texts;
}

Config read_config(std::istream &input, const std::string &name, const Registry &registry)
{
    ConfigNotes notes(name);
    Reader reader(notes, registry);
    for (const ConfigSection &section : split_config(input, notes))
        reader.read(section);
    Config config = reader.take();
    config.notes = notes.take();
    return config;
}

std::string read_section(std::istream &input, const std::string &section)
{
    std::string lines;
    ConfigNotes ignored("");
    for (const ConfigSection &one : split_config(input, ignored)) {
        for (const ConfigKey &line : one.keys)
            lines += one.name == section ? line.key + "=" + line.value + "\n" : "";
    }
    return lines;
}
} // namespace mapi::engine
