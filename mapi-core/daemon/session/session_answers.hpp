// SPDX-License-Identifier: MIT
// Session answers: what the engine reports -> messages.
#pragma once

#include <mapi/results.h>

#include "daemon/shared_arena.hpp"
#include "engine/flow.hpp"
#include "ipc/mapi.pb.h"

namespace mapi::daemon
{
void show(int fid, const engine::FunctionMemory &memory, SharedArena &arena, ipc::Applied &applied);
void show(const mapi_flow_info_t &info, ipc::FlowInfo &message);
void show(const mapi_function_info_t &info, ipc::FunctionInfo &message);
void show(const mapi_device_info_t &info, ipc::DeviceInfo &message);
void show(const mapi_stat_t &stats, ipc::Statistics &message);
} // namespace mapi::daemon
