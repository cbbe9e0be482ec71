// SPDX-License-Identifier: MIT
// packet_socket: work -> packets through an AF_PACKET socket, past the queueing discipline.
#pragma once

#include <memory>

#include "sender.hpp"

namespace mapi_gen
{
// Throws Refusal.
std::unique_ptr<Sender> make_packet_socket(const Work &work);
} // namespace mapi_gen
