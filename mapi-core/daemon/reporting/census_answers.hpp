// SPDX-License-Identifier: MIT
// Census answers: what mapid has, as far as the asker may see it -> messages.
#pragma once

#include "daemon/service.hpp"
#include "ipc/mapi.pb.h"

namespace mapi::daemon
{
void show_daemon(const Service &service, const Peer &asker, ipc::DaemonInfo &message);
// From behind `from` on, as much as a message holds.
void show_devices(const Service &service, const Peer &asker, const ipc::Place &from, ipc::DeviceList &message);
void show_flows(const Service &service, const Peer &asker, const ipc::Place &from, ipc::FlowList &message);
} // namespace mapi::daemon
