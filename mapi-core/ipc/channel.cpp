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
constexpr int kPassPidfd = 76; // SO_PASSPIDFD, missing in older headers

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

// `descriptors` has room reserved, so nothing can throw between the kernel's open and the owner.
void take(msghdr &header, std::vector<Descriptor> &descriptors)
{
    for (cmsghdr *control = CMSG_FIRSTHDR(&header); control;
         control = CMSG_NXTHDR(&header, control)) {
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

// A socket accepted from the service manager's listening socket inherits its options
// (PassCredentials= and similar ones of systemd.socket(5)); their control messages would take the
// room of descriptors, or contain a descriptor.
Channel::Channel(Descriptor socket) : socket_(std::move(socket))
{
    const int off = 0;
    for (const int option : {SO_PASSCRED, SO_PASSSEC, kPassPidfd})
        setsockopt(socket_.number(), SOL_SOCKET, option, &off,
                   sizeof(off)); // fails if the kernel does not know the option
}

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
            throw ChannelError("timed out: the other side does not read");
    }
}

bool Channel::receive(Message &message, size_t descriptors_most)
{
    alignas(cmsghdr) char control[CMSG_SPACE(kDescriptorsMax * sizeof(int))];
    message.bytes.resize(kMessageBytesMax);
    message.descriptors.clear();
    message.descriptors.reserve(kDescriptorsMax);
    iovec piece = {message.bytes.data(), message.bytes.size()};
    msghdr header = {};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen =
        descriptors_most == 0 ? 0 : sizeof(control); // without room the kernel opens no descriptors
    ssize_t got;
    bool is_reset = false; // ECONNRESET is reported once, before the other side's last messages
    while ((got = recvmsg(socket_.number(), &header, MSG_CMSG_CLOEXEC)) < 0 &&
           (errno == EINTR || (errno == ECONNRESET && !is_reset)))
        is_reset |= errno == ECONNRESET;
    if (got < 0 && errno != ECONNRESET)
        fail("cannot receive");
    if (got < 0)
        return false;
    take(header,
         message.descriptors); // first, since they are open even if the message is malformed
    const bool is_cut = header.msg_flags & MSG_CTRUNC;
    if (got == 0 && message.descriptors.empty() && !is_cut && has_closed())
        return false;
    message.has_lost_descriptors = is_cut && message.descriptors.size() < descriptors_most;
    const bool are_too_many =
        is_cut ? !message.has_lost_descriptors : message.descriptors.size() > descriptors_most;
    const bool is_too_long = header.msg_flags & MSG_TRUNC;
    if (is_too_long || are_too_many || message.has_lost_descriptors)
        message.descriptors.clear();
    if (is_too_long)
        throw ChannelError("received a message that is too long");
    if (are_too_many)
        throw ChannelError("received a message with more than " + std::to_string(descriptors_most) +
                           " descriptors");
    message.bytes.resize(size_t(got));
    return true;
}

// Called after a read of 0 bytes.  An empty message reads like the end (recv(2)); it is taken for
// the end only if the other side has closed since, and then any messages after it are lost.
bool Channel::has_closed() const
{
    pollfd event = {socket_.number(), POLLRDHUP, 0};
    return poll(&event, 1, 0) != 0;
}
} // namespace mapi::ipc
