// SPDX-License-Identifier: MIT
// mapid: queries to a running one -> its complete answers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/remote/connection.hpp"
#include "ipc/mapi.pb.h"

namespace mapi_info
{
// All functions throw mapi::Error.
class Mapid
{
public:
    explicit Mapid(const std::string &socket);

    mapi::ipc::DaemonInfo daemon();
    std::vector<mapi::ipc::ListedDevice> devices();
    std::vector<mapi::ipc::ListedFlow> flows();
    // Takes this time and some seconds.
    mapi::ipc::Cost cost(const std::string &device, uint32_t duration_ms);

    void start_recording(const std::string &name, const std::string &slices, int file);
    mapi::ipc::Recorded stop_recording();
    bool is_alive() const { return connection_->is_alive(); }

private:
    std::shared_ptr<mapi::client::Connection> connection_;
};
} // namespace mapi_info
