// SPDX-License-Identifier: MIT
// Function rules: a function that a client applies -> accepted, or refused with mapi::Error,
// because mapid would run it for the client.
#pragma once

#include <mapi/function.h>

#include "daemon/session/policy.hpp"
#include "engine/config/arguments.hpp"
#include "engine/registry/registry.hpp"

namespace mapi::daemon
{
// The client's libmapi reads results without a request, so a plug-in's code for reading them cannot
// run there.
void check_readable(const mapi_function &function, const engine::Registry &registry);

// Packets and messages would leave with mapid's privileges, not with the client's.
void check_sending(const mapi_function &function, const engine::Arguments &arguments,
                   const Peer &peer);

// A text that takes long to compile would keep mapid busy after its client has ended.
void check_lengths(const mapi_function &function, const engine::Arguments &arguments);
} // namespace mapi::daemon
