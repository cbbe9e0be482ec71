// SPDX-License-Identifier: MIT
// Service manager: systemd, where it has started this process: sockets that it opened, and what it is told.
#pragma once

#include <string>

#include "ipc/descriptor.hpp"

namespace mapi::daemon
{
// The socket at which it listens for this process; closed: there is none.  Throws std::runtime_error for what is no such socket.
ipc::Descriptor inherited_socket();
// Lines of sd_notify(3), such as "READY=1".
void tell_service_manager(const std::string &lines);
} // namespace mapi::daemon
