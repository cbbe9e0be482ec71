// SPDX-License-Identifier: MIT
// Fuzz target: messages of any length with any ancillary data -> the channel returns each complete
// or refuses it, and no unclaimed descriptor stays open. Input: steps of five bytes: the operation,
// the message's length (two bytes), the number of descriptors, the number accepted.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/channel.hpp"

namespace
{
using namespace mapi;

constexpr size_t kStepBytes = 5;
constexpr size_t kDescriptorsInPiece = 253; // SCM_MAX_FD
constexpr int kLooked = 1024;

int count_open()
{
    int count = 0;
    for (int number = 0; number < kLooked; ++number)
        count += fcntl(number, F_GETFD) >= 0;
    return count;
}

void add_piece(std::vector<char> &control, int type, const void *data, size_t bytes)
{
    const size_t at = control.size();
    control.resize(at + CMSG_SPACE(bytes));
    cmsghdr head = {};
    head.cmsg_level = SOL_SOCKET;
    head.cmsg_type = type;
    head.cmsg_len = CMSG_LEN(bytes);
    memcpy(control.data() + at, &head, sizeof(head));
    memcpy(control.data() + at + CMSG_LEN(0), data, bytes);
}

// What any program may send: pieces of descriptors, also credentials. The kernel refuses some.
void send(int socket, size_t bytes, size_t descriptors, uint8_t kind)
{
    static std::string text(2 * ipc::kMessageBytesMax, 'x');
    std::vector<int> numbers(descriptors, socket);
    std::vector<char> control;
    const size_t first = kind & 1 ? descriptors / 2 : descriptors;
    const ucred own = {getpid(), getuid(), getgid()};
    if (kind & 2)
        add_piece(control, SCM_CREDENTIALS, &own, sizeof(own));
    if (first > 0)
        add_piece(control, SCM_RIGHTS, numbers.data(), first * sizeof(int));
    if (first < descriptors)
        add_piece(control, SCM_RIGHTS, numbers.data() + first, (descriptors - first) * sizeof(int));
    iovec piece = {text.data(), std::min(bytes, text.size())};
    msghdr header = {};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.empty() ? nullptr : control.data();
    header.msg_controllen = control.size();
    [[maybe_unused]] const ssize_t sent = sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// False: the connection has ended.
bool receive(ipc::Channel &channel, size_t most)
{
    const int before = count_open();
    try {
        ipc::Message message;
        const bool is_there = channel.receive(message, most);
        if (count_open() != before + int(message.descriptors.size()) ||
            message.descriptors.size() > most || message.bytes.size() > ipc::kMessageBytesMax)
            abort();
        if (!is_there && !message.descriptors.empty())
            abort();
        return is_there;
    } catch (const ipc::ChannelError &) {
        return count_open() == before ? true : (abort(), false);
    }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int before = count_open();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        abort();
    {
        std::optional<ipc::Descriptor> far(std::in_place, ends[1]);
        ipc::Channel channel{ipc::Descriptor(ends[0])};
        bool is_there = true;
        size_t unread = 0;
        for (; size >= kStepBytes && is_there; data += kStepBytes, size -= kStepBytes) {
            const size_t bytes = (size_t(data[1]) << 8 | data[2]) * (data[0] & 4 ? 2 : 1);
            if (far && (data[0] & 0xf0) == 0xf0) {
                if (data[0] & 1)
                    far.reset();
                else
                    shutdown(far->number(), SHUT_WR);
                unread = SIZE_MAX; // the end can be read forever
            } else if (far && unread < 4) {
                send(far->number(), bytes, std::min<size_t>(data[3], kDescriptorsInPiece), data[0]);
                unread += 1;
            }
            pollfd event = {channel.socket(), POLLIN, 0};
            if ((data[0] & 8) && poll(&event, 1, 0) > 0) {
                is_there = receive(channel, data[4] % (ipc::kDescriptorsMax + 1));
                unread -= unread == SIZE_MAX ? 0 : 1;
            }
        }
    }
    if (count_open() != before)
        abort();
    return 0;
}
