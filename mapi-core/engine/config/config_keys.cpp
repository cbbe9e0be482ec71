// SPDX-License-Identifier: MIT
// Config keys: keys before the first section, of [format] and of [dag].
#include "engine/config/config_keys.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/config/config_values.hpp"
#include "engine/error.hpp"

namespace mapi::engine
{
namespace
{
constexpr uint64_t kMebibytesMost = 1 << 20;
constexpr uint64_t kMappedMebibytesMost = 1 << 16; // of memory that each client maps
using Check = void (*)(const std::string &key, const std::string &value); // throws Error

void any(const std::string &, const std::string &) {}

void text(const std::string &key, const std::string &value)
{
    if (value.empty())
        throw Error(MAPI_CONFIG_ERROR, key + "=: requires a value");
}

void flag(const std::string &key, const std::string &value)
{
    config_number(key, value, 0, 1);
}

void port(const std::string &key, const std::string &value)
{
    config_number(key, value, 1, UINT16_MAX);
}

void mode(const std::string &key, const std::string &value)
{
    config_mode(key, value);
}

void mebibytes(const std::string &key, const std::string &value)
{
    config_number(key, value, 1, kMebibytesMost);
}

void mapped_mebibytes(const std::string &key, const std::string &value)
{
    config_number(key, value, 1, kMappedMebibytesMost);
}

void log_level(const std::string &key, const std::string &value)
{
    if (log_level_name(value).empty())
        throw Error(
            MAPI_CONFIG_ERROR,
            key + "=" + value +
                ": must be 0 (error), 1 (info), 2 (debug), or trace, debug, info, warning, error");
}

struct Known {
    const char *section;
    const char *key;
    Check check;
    const char *no_effect; // the reason; null if the key has an effect
};
constexpr const char *kNoCard =
    "DAG cards are unsupported; their ERF files can be read (driver=erf_file)";
constexpr Known kKnown[] = {
    {"", "libpath", any, nullptr},
    {"", "drvpath", any, nullptr},
    {"", "libs", any, nullptr},
    {"", "log_level", log_level, nullptr},
    {"", "syslog_level", log_level, nullptr},
    {"", "logfile", text, nullptr},
    {"", "local", flag, nullptr},
    {"", "socket_mode", mode, nullptr},
    {"", "socket_group", text, nullptr},
    {"", "max_memory", mapped_mebibytes, nullptr},
    {"", "max_function_memory", mebibytes, nullptr},
    {"", "max_user_memory", mebibytes, nullptr},
    {"", "dimapi_port", port, "remote flows (DiMAPI) are unsupported"},
    {"format", "format", text, nullptr},
    {"format", "driver", text, nullptr},
    {"format", "description", any, nullptr},
    {"dag", "dsm_loader_bin", text, kNoCard},
    {"dag", "disable_dsm", flag, kNoCard},
    {"dag", "disable_dsm_xml_remove", flag, kNoCard},
};

std::vector<std::string> keys_of(const std::string &section)
{
    std::vector<std::string> keys;
    for (const Known &known : kKnown) {
        if (section == known.section)
            keys.emplace_back(known.key);
    }
    return keys;
}

// The edit distance: letters to change, add or remove.
size_t distance(const std::string &one, const std::string &other)
{
    std::vector<size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), size_t(0));
    for (size_t i = 0; i < one.size(); ++i) {
        size_t diagonal = std::exchange(row[0], i + 1);
        for (size_t k = 0; k < other.size(); ++k)
            diagonal = std::exchange(row[k + 1], std::min({diagonal + (one[i] != other[k]),
                                                           row[k] + 1, row[k + 1] + 1}));
    }
    return row.back();
}
} // namespace

bool has_known_keys(const std::string &section)
{
    return !keys_of(section).empty();
}

void check_keys(const ConfigSection &section, ConfigNotes &notes)
{
    for (const ConfigKey &line : section.keys) {
        const auto known =
            std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known &one) {
                return section.name == one.section && line.key == one.key;
            });
        if (known == std::end(kKnown)) {
            notes.warn(line.line, "unknown key \"" + line.key + "\" " +
                                      (section.name.empty() ? "before the first section"
                                                            : "in [" + section.name + "]") +
                                      suggest(line.key, keys_of(section.name)) + "; ignored");
            continue;
        }
        try {
            known->check(line.key, line.value);
            if (known->no_effect)
                notes.warn(line.line, line.key + "= has no effect: " + known->no_effect);
        } catch (const Error &error) {
            notes.error(line.line, error.what());
        }
    }
}

std::string suggest(const std::string &wrong, const std::vector<std::string> &known)
{
    constexpr size_t kLongest = 64; // longer than any key
    if (known.empty() || wrong.size() > kLongest)
        return {};
    const auto nearest =
        std::min_element(known.begin(), known.end(), [&](const auto &one, const auto &other) {
            return distance(wrong, one) < distance(wrong, other);
        });
    if (distance(wrong, *nearest) <= std::max<size_t>(1, nearest->size() / 3))
        return "; did you mean \"" + *nearest + "\"?";
    return "; available: " +
           std::accumulate(std::next(known.begin()), known.end(), known.front(),
                           [](const auto &list, const auto &one) { return list + ", " + one; });
}
} // namespace mapi::engine
