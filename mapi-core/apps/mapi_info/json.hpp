// SPDX-License-Identifier: MIT
// json: what mapid has -> schema netslice-mapi-info-1.
#pragma once

#include <string>
#include <vector>

#include "ipc/mapi.pb.h"

namespace mapi_info
{
// Lists that were not requested are null pointers, and absent from the text.
std::string json_text(const mapi::ipc::DaemonInfo &daemon,
                      const std::vector<mapi::ipc::ListedDevice> *devices,
                      const std::vector<mapi::ipc::ListedFlow> *flows);
std::string costs_json_text(const mapi::ipc::DaemonInfo &daemon,
                            const std::vector<mapi::ipc::Cost> &costs);
} // namespace mapi_info
