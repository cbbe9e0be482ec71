// SPDX-License-Identifier: MIT
// packet_socket: work -> packets through an AF_PACKET socket, past the queueing discipline.
#pragma once

#include <memory>

#include "ipc/descriptor.hpp"
#include "sender.hpp"

namespace mapi_gen
{
// A socket that only sends, to this interface and past its queueing discipline.  Throws Refusal.
mapi::ipc::Descriptor open_sending(const Interface &interface);

// Throws Refusal.
std::unique_ptr<Sender> make_packet_socket(const Work &work);
} // namespace mapi_gen
