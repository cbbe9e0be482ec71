// SPDX-License-Identifier: MIT
// Service manager: systemd, if it has started this process: its sockets, and notifications to it.
#pragma once

#include <string>

#include "ipc/descriptor.hpp"

namespace mapi::daemon
{
// The socket on which systemd listens for this process; closed: there is none.  Throws
// std::runtime_error for any other socket.
ipc::Descriptor inherited_socket();
// Lines of sd_notify(3), such as "READY=1".
void tell_service_manager(const std::string &lines);
} // namespace mapi::daemon
