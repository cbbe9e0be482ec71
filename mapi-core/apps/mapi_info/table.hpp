// SPDX-License-Identifier: MIT
// table: what mapid has -> lines of columns, for people and for awk.
#pragma once

#include <string>
#include <vector>

#include "ipc/mapi.pb.h"

namespace mapi_info
{
// No cell is empty or contains a blank; the first line has the column names.
std::string daemon_table(const mapi::ipc::DaemonInfo &daemon);
std::string devices_table(const std::vector<mapi::ipc::ListedDevice> &devices);
std::string flows_table(const std::vector<mapi::ipc::ListedFlow> &flows);
std::string functions_table(const std::vector<mapi::ipc::ListedFlow> &flows);
std::string costs_table(const std::vector<mapi::ipc::Cost> &costs);
} // namespace mapi_info
