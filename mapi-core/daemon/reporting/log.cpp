// SPDX-License-Identifier: MIT
// Log: spdlog's sinks.
#include "daemon/reporting/log.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "daemon/reporting/journal_formatter.hpp"
#include "engine/config/config_file.hpp"
#include "engine/config/config_values.hpp"

namespace mapi::daemon
{
std::string log_file_error(const std::string &file)
{
    std::error_code ignored;
    const auto folder = std::filesystem::absolute(file.empty() ? "." : file, ignored).parent_path();
    return std::filesystem::is_directory(folder, ignored)
               ? ""
               : file + ": cannot write the log: folder does not exist (create it first)";
}

void start_log(const std::string &level, const std::string &file)
{
    std::shared_ptr<spdlog::logger> logger;
    if (const std::string wrong = log_file_error(file); !wrong.empty())
        throw std::runtime_error(wrong); // spdlog would create the folder
    try {
        logger = file.empty() ? spdlog::stderr_logger_mt("mapid")
                              : spdlog::basic_logger_mt("mapid", file);
    } catch (const spdlog::spdlog_ex &error) {
        throw std::runtime_error(file + ": cannot write the log: " + error.what());
    }
    if (file.empty() &&
        std::getenv("JOURNAL_STREAM")) // journald takes the level from "<N>" before each line
        logger->set_formatter(std::make_unique<JournalFormatter>());
    logger->flush_on(spdlog::level::trace);
    spdlog::set_default_logger(std::move(logger));
    spdlog::set_level(spdlog::level::from_str(level));
}

// An invalid value is reported when the file is checked.
std::string configured_log_level()
{
    const std::string level = engine::find_config_value("log_level");
    return engine::log_level_name(level.empty() ? engine::find_config_value("syslog_level")
                                                : level);
}

void log_plan(const engine::Device &device, const engine::Plan &plan)
{
    spdlog::debug("device {}: new plan: {} flows, {} distinct functions, {} node groups",
                  device.settings().name, plan.chains().size(), plan.count_nodes(),
                  plan.groups().size());
}
} // namespace mapi::daemon
