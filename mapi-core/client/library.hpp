// SPDX-License-Identifier: MIT
// Library: what libmapi keeps for the process: its registry, devices and flows.
#pragma once

#include "client/devices.hpp"
#include "client/flow_table.hpp"
#include "engine/registry.hpp"

namespace mapi::client
{
struct Library {
    Library();

    engine::Registry registry;
    Devices devices;
    FlowTable flows;
};

// Made by the first call and never destroyed: packet threads may run until the process is gone.
Library &library();
} // namespace mapi::client
