// SPDX-License-Identifier: MIT
// Request log: a request and its reply -> a line: at level debug for changes, at level trace for
// queries.
#pragma once

#include <sys/types.h>

#include "ipc/mapi.pb.h"

namespace mapi::daemon
{
// Costs one comparison if the level is above debug.
void log_request(pid_t client, const ipc::Request &request, const ipc::Reply &reply);
} // namespace mapi::daemon
