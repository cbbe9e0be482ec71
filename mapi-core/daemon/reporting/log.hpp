// SPDX-License-Identifier: MIT
// Log: what mapid tells -> standard error, the journal or a file.
#pragma once

#include <string>

#include "engine/packet_path/device.hpp"

namespace mapi::daemon
{
// The first call makes it.  file: empty for standard error.  Throws std::runtime_error when the file cannot be written.
void start_log(const std::string &level, const std::string &file);

// As `log_level` or `syslog_level` of mapi.conf says, in spdlog's words; empty: it does not say.
std::string configured_log_level();

// At debug; an engine::PlanObserver.
void log_plan(const engine::Device &device, const engine::Plan &plan);
} // namespace mapi::daemon
