// SPDX-License-Identifier: MIT
// Registry answers: what mapid has, as far as the asking user may see it -> messages.
#pragma once

#include "daemon/service.hpp"
#include "ipc/mapi.pb.h"

namespace mapi::daemon
{
void show_daemon(const Service &service, const Peer &asker, ipc::DaemonInfo &message);
// Starts after `from` and adds as much as fits into a message.
void show_devices(const Service &service, const Peer &asker, const ipc::Place &from,
                  ipc::DeviceList &message);
void show_flows(const Service &service, const Peer &asker, const ipc::Place &from,
                ipc::FlowList &message);
} // namespace mapi::daemon
