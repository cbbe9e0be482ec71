// SPDX-License-Identifier: MIT
// Flow recipe: what was asked of mapid to make a flow -> the same asked of another mapid.
#pragma once

#include <string>
#include <vector>

#include "ipc/mapi.pb.h"

namespace mapi::client
{
struct FlowRecipe {
    ipc::Request creation;           // with the flow's number, as all below
    std::string capture;             // the file that goes with it; empty: the flow is on a device
    std::vector<ipc::Request> calls; // options, functions that were applied and removed, in order
    std::string writer;              // a function of it that writes a file; empty: none does
    bool is_connected = false;
};
} // namespace mapi::client
