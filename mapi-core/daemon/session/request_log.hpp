// SPDX-License-Identifier: MIT
// Request log: a request and its answer -> a line: at debug what changes something, at trace what only asks.
#pragma once

#include <sys/types.h>

#include "ipc/mapi.pb.h"

namespace mapi::daemon
{
// Costs a comparison where the level is above debug.
void log_request(pid_t client, const ipc::Request &request, const ipc::Reply &reply);
} // namespace mapi::daemon
