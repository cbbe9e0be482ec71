// SPDX-License-Identifier: MIT
// Metrics text: devices, flows and refusals -> Prometheus' text format 0.0.4.
#pragma once

#include <string>

#include "daemon/reporting/client_registry.hpp"
#include "engine/devices.hpp"

namespace mapi::daemon
{
std::string metrics_text(engine::Devices &devices, ClientRegistry &clients);
} // namespace mapi::daemon
