// SPDX-License-Identifier: MIT
// Flow recipe: the requests that created a flow at mapid -> the same requests to another mapid.
#pragma once

#include <string>
#include <vector>

#include "ipc/mapi.pb.h"

namespace mapi::client
{
struct FlowRecipe {
    ipc::Request creation; // with the flow's number, like all calls below
    // the file that is sent with it; empty: the flow is on a device
    std::string capture;
    std::vector<ipc::Request> calls; // options, applied and removed functions, in order
    std::string writer;              // a function of the flow that writes a file; empty: none
    bool is_connected = false;
};
} // namespace mapi::client
