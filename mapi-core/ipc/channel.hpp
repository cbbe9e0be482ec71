// SPDX-License-Identifier: MIT
// Channel: whole messages with descriptors over a Unix SOCK_SEQPACKET socket.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "ipc/descriptor.hpp"

namespace mapi::ipc
{
constexpr uint32_t kProtocolVersion =
    2; // of the protocol between libmapi and mapid, exchanged in the handshake
constexpr size_t kMessageBytesMax = 65536;
constexpr size_t kDescriptorsMax = 16;

// The other side is gone, or violates the protocol; what() says which.
class ChannelError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

struct Message {
    std::string bytes; // may be empty
    std::vector<Descriptor> descriptors;
    bool has_lost_descriptors =
        false; // this process has too many open files; then `descriptors` is empty
};

// One thread at a time.
class Channel
{
public:
    explicit Channel(Descriptor socket);

    int socket() const { return socket_.number(); }
    // Throws ChannelError, also if the other side does not read within timeout_ms.
    void send(const std::string &bytes, const std::vector<int> &descriptors, int timeout_ms);
    // Waits.  False if the other side has closed.  More than `descriptors_most` descriptors are an
    // error.  Throws ChannelError, after closing the descriptors of the message.
    bool receive(Message &message, size_t descriptors_most = kDescriptorsMax);

private:
    bool has_closed() const;

    Descriptor socket_;
};
} // namespace mapi::ipc
