// SPDX-License-Identifier: MIT
// Channel: whole messages with descriptors over a Unix SOCK_SEQPACKET socket (unix(7), cmsg(3)).
#include "ipc/channel.hpp"

#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>

namespace mapi::ipc
{
namespace
{
[[noreturn]] void fail(const char *what)
{
    throw ChannelError(std::string(what) + ": " + strerror(errno));
}

void attach(msghdr &header, const std::vector<int> &descriptors)
{
    const size_t bytes = descriptors.size() * sizeof(int);
    cmsghdr *control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(control), descriptors.data(), bytes);
}

void take(msghdr &header, std::vector<Descriptor> &descriptors)
{
    for (cmsghdr *control = CMSG_FIRSTHDR(&header); control; control = CMSG_NXTHDR(&header, control)) {
        if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
            continue;
        const size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            int number;
            memcpy(&number, CMSG_DATA(control) + i * sizeof(int), sizeof(number));
            descriptors.emplace_back(number);
        }
    }
}
} // namespace

void Channel::send(const std::string &bytes, const std::vector<int> &descriptors, int timeout_ms)
{
    if (bytes.size() > kMessageBytesMax || descriptors.size() > kDescriptorsMax)
        throw ChannelError("the message is too long: " + std::to_string(bytes.size()) + " bytes");
    alignas(cmsghdr) char control[CMSG_SPACE(kDescriptorsMax * sizeof(int))] = {};
    iovec piece = {const_cast<char *>(bytes.data()), bytes.size()};
    msghdr header = {};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    if (!descriptors.empty()) {
        header.msg_control = control;
        header.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
        attach(header, descriptors);
    }
    while (sendmsg(socket_.number(), &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN)
            fail("cannot send");
        pollfd writable = {socket_.number(), POLLOUT, 0};
        if (poll(&writable, 1, timeout_ms) == 0)
            throw ChannelError("the other side does not read");
    }
}

bool Channel::receive(Message &message)
{
    alignas(cmsghdr) char control[CMSG_SPACE(kDescriptorsMax * sizeof(int))];
    message.bytes.resize(kMessageBytesMax);
    message.descriptors.clear();
    iovec piece = {message.bytes.data(), message.bytes.size()};
    msghdr header = {};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    ssize_t got;
    bool is_reset = false; // told once, before what the other side said last
    while ((got = recvmsg(socket_.number(), &header, MSG_CMSG_CLOEXEC)) < 0 && (errno == EINTR || (errno == ECONNRESET && !is_reset)))
        is_reset |= errno == ECONNRESET;
    if (got < 0 && errno != ECONNRESET)
        fail("cannot receive");
    if (got <= 0)
        return false;
    take(header, message.descriptors);
    message.has_lost_descriptors = header.msg_flags & MSG_CTRUNC;
    if ((header.msg_flags & MSG_TRUNC) || (message.has_lost_descriptors && message.descriptors.size() == kDescriptorsMax))
        throw ChannelError("a message is too long");
    if (message.has_lost_descriptors)
        message.descriptors.clear();
    message.bytes.resize(size_t(got));
    return true;
}
} // namespace mapi::ipc
