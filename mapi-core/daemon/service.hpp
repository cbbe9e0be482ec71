// SPDX-License-Identifier: MIT
// Service: what all sessions share.
#pragma once

#include <string>

#include "daemon/housekeeping.hpp"
#include "daemon/pulse.hpp"
#include "daemon/reporting/client_log.hpp"
#include "daemon/reporting/client_registry.hpp"
#include "daemon/session/cost_turns.hpp"
#include "daemon/session/policy.hpp"
#include "daemon/session/users.hpp"
#include "engine/devices.hpp"
#include "engine/registry/registry.hpp"

namespace mapi::daemon
{
struct Service {
    const engine::Registry &registry;
    engine::Devices &devices;
    Limits limits;
    ClientRegistry &clients;
    Pulse &pulse;
    std::string group; // may use devices without a group of their own
    Users &users;
    Housekeeping &housekeeping;
    ClientLog &log;
    CostTurns &cost_turns;
};
} // namespace mapi::daemon
