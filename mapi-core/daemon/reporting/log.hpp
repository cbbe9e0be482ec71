// SPDX-License-Identifier: MIT
// Log: what mapid reports -> standard error, the journal or a file.
#pragma once

#include <string>

#include "engine/packet_path/device.hpp"

namespace mapi::daemon
{
// What is wrong with the name of a log file, which is not opened; empty: nothing.
std::string log_file_error(const std::string &file);

// The first call creates the log.  file: empty for standard error.  Throws std::runtime_error if
// the file cannot be written.
void start_log(const std::string &level, const std::string &file);

// `log_level` or `syslog_level` of mapi.conf, in spdlog's terms; empty: not set.
std::string configured_log_level();

// Logs at level debug; an engine::PlanObserver.
void log_plan(const engine::Device &device, const engine::Plan &plan);
} // namespace mapi::daemon
