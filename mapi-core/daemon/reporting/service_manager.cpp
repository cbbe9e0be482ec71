// SPDX-License-Identifier: MIT
// Service manager: systemd, by libsystemd.
#include "daemon/reporting/service_manager.hpp"

#include <stdexcept>

#include <sys/socket.h>
#include <systemd/sd-daemon.h>

namespace mapi::daemon
{
ipc::Descriptor inherited_socket()
{
    const int count = sd_listen_fds(1);
    if (count <= 0)
        return {};
    if (count > 1 || sd_is_socket_unix(SD_LISTEN_FDS_START, SOCK_SEQPACKET, 1, nullptr, 0) <= 0)
        throw std::runtime_error(
            "service manager: must pass exactly one socket (of ListenSequentialPacket=)");
    return ipc::Descriptor(SD_LISTEN_FDS_START);
}

void tell_service_manager(const std::string &lines)
{
    sd_notify(0, lines.c_str());
}
} // namespace mapi::daemon
