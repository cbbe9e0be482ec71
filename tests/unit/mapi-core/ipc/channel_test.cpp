// SPDX-License-Identifier: MIT
#include "ipc/channel.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "support/catch.hpp"

using namespace mapi::ipc;

namespace
{
struct Pair {
    Pair()
    {
        std::array<int, 2> sockets = {};
        REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) == 0);
        near = std::make_unique<Channel>(Descriptor(sockets[0]));
        far = std::make_unique<Channel>(Descriptor(sockets[1]));
    }
    std::unique_ptr<Channel> near;
    std::unique_ptr<Channel> far;
};

// A message as a program without libmapi may send it: any number of bytes and descriptors, in any
// number of pieces.
void send_raw(const Channel &channel, size_t bytes, size_t descriptors)
{
    std::string text(bytes, 'x');
    iovec piece = {text.data(), text.size()};
    std::vector<char> control(CMSG_SPACE(descriptors * sizeof(int)));
    msghdr header = {};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    if (descriptors > 0) {
        header.msg_control = control.data();
        header.msg_controllen = control.size();
        cmsghdr *const rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
        const std::vector<int> numbers(descriptors, channel.socket());
        memcpy(CMSG_DATA(rights), numbers.data(), descriptors * sizeof(int));
    }
    REQUIRE(sendmsg(channel.socket(), &header, 0) == ssize_t(bytes));
}

int lowest_free_descriptor()
{
    const Descriptor next(open("/dev/null", O_RDONLY | O_CLOEXEC));
    return next.number();
}
} // namespace

TEST_CASE("a message arrives complete, its descriptors in order, and only the receiver closes them",
          "[mapi-core][ipc][channel]")
{
    Pair pair;
    std::array<int, 2> pipe_ends = {};
    REQUIRE(pipe(pipe_ends.data()) == 0);
    const Descriptor reading(pipe_ends[0]), writing(pipe_ends[1]);
    const std::string bytes(kMessageBytesMax, 'x');
    Message message;

    pair.near->send(bytes, {reading.number(), writing.number()}, 1000);
    REQUIRE(pair.far->receive(message));

    CHECK(message.bytes == bytes);
    REQUIRE(message.descriptors.size() == 2);
    CHECK(write(message.descriptors[1].number(), "y", 1) == 1);
    char got = 0;
    CHECK(read(reading.number(), &got, 1) == 1);
    CHECK(got == 'y');
    CHECK((fcntl(message.descriptors[0].number(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("message boundaries are preserved", "[mapi-core][ipc][channel]")
{
    Pair pair;
    Message message;
    pair.near->send("one", {}, 1000);
    pair.near->send("three", {}, 1000);

    REQUIRE(pair.far->receive(message));
    CHECK(message.bytes == "one");
    REQUIRE(pair.far->receive(message));
    CHECK(message.bytes == "three");
}

TEST_CASE("a message beyond the maximum length is not sent, and is an error when received",
          "[mapi-core][ipc][channel]")
{
    Pair pair;
    Message message;
    const std::string bytes(kMessageBytesMax + 1, 'x');

    CHECK_THROWS_AS(pair.near->send(bytes, {}, 1000), ChannelError);
    CHECK_THROWS_AS(pair.near->send("x", std::vector<int>(kDescriptorsMax + 1, 0), 1000),
                    ChannelError);
    REQUIRE(send(pair.near->socket(), bytes.data(), bytes.size(), 0) == ssize_t(bytes.size()));
    CHECK_THROWS_AS(pair.far->receive(message), ChannelError);
}

TEST_CASE("more descriptors than a message may have are an error and are all closed",
          "[mapi-core][ipc][channel]")
{
    Pair pair;
    const int before = lowest_free_descriptor();
    send_raw(*pair.near, 1, 200);

    {
        Message message;
        CHECK_THROWS_AS(pair.far->receive(message), ChannelError);
    }

    CHECK(lowest_free_descriptor() == before);
}

TEST_CASE("descriptors of any message are closed with it, whatever else it contains",
          "[mapi-core][ipc][channel]")
{
    constexpr size_t kMost = 253; // SCM_MAX_FD of the kernel
    const int before = lowest_free_descriptor();
    for (const size_t bytes : {size_t(0), size_t(1), kMessageBytesMax, kMessageBytesMax + 1}) {
        for (const size_t descriptors :
             {size_t(0), size_t(1), kDescriptorsMax, kDescriptorsMax + 1, kMost}) {
            for (const size_t most : {size_t(0), size_t(2), kDescriptorsMax}) {
                CAPTURE(bytes, descriptors, most);
                Pair pair;
                const int with_pair = lowest_free_descriptor();
                send_raw(*pair.near, bytes, descriptors);
                Message message;
                const bool is_good = bytes <= kMessageBytesMax && descriptors <= most;
                if (is_good)
                    CHECK(pair.far->receive(message, most));
                else
                    CHECK_THROWS_AS(pair.far->receive(message, most), ChannelError);
                CHECK(message.descriptors.size() == (is_good ? descriptors : 0));
                message.descriptors.clear();
                CHECK(lowest_free_descriptor() == with_pair);
            }
        }
    }
    CHECK(lowest_free_descriptor() == before);
}

TEST_CASE("a message without bytes is a message, not the end of the connection",
          "[mapi-core][ipc][channel]")
{
    Pair pair;
    Message message;
    send_raw(*pair.near, 0, 0);
    send_raw(*pair.near, 0, 1);
    send_raw(*pair.near, 3, 0);

    REQUIRE(pair.far->receive(message));
    CHECK(message.bytes.empty());
    REQUIRE(pair.far->receive(message));
    CHECK(message.descriptors.size() == 1);
    REQUIRE(pair.far->receive(message));
    CHECK(message.bytes == "xxx");
    pair.near.reset();
    CHECK_FALSE(pair.far->receive(message));
}

TEST_CASE("descriptors of a message without bytes also arrive from a side that has closed",
          "[mapi-core][ipc][channel]")
{
    const int before = lowest_free_descriptor();
    {
        Pair pair;
        Message message;
        send_raw(*pair.near, 0, 3);
        send_raw(*pair.near, 0, 3); // not received: the kernel closes them with the socket
        pair.near.reset();
        REQUIRE(pair.far->receive(message));
        CHECK(message.descriptors.size() == 3);
    }
    CHECK(lowest_free_descriptor() == before);
}

TEST_CASE("ancillary data that a listening socket adds takes no space from descriptors",
          "[mapi-core][ipc][channel]")
{
    Pair pair;
    const int on = 1;
    std::array<int, 2> sockets = {};
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) == 0);
    REQUIRE(setsockopt(sockets[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0);
    Channel near{Descriptor(sockets[0])};
    const Channel far{Descriptor(sockets[1])};
    Message message;

    send_raw(far, 1, kDescriptorsMax);

    REQUIRE(near.receive(message));
    CHECK(message.descriptors.size() == kDescriptorsMax);
    CHECK_FALSE(message.has_lost_descriptors);
}

TEST_CASE("a message whose descriptors do not fit arrives without them, and reports that",
          "[mapi-core][ipc][channel]")
{
    Pair pair;
    const Descriptor given(open("/dev/null", O_RDONLY | O_CLOEXEC));
    const int free_before = lowest_free_descriptor();
    rlimit before = {};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit one_left = before;
    one_left.rlim_cur = rlim_t(free_before) + 1;
    pair.near->send("two", {given.number(), given.number()}, 1000);
    pair.near->send("one", {given.number()}, 1000);
    Message message;

    REQUIRE(setrlimit(RLIMIT_NOFILE, &one_left) == 0);
    const bool came = pair.far->receive(message);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);

    REQUIRE(came);
    CHECK(message.bytes == "two");
    CHECK(message.descriptors.empty());
    CHECK(message.has_lost_descriptors);
    CHECK(lowest_free_descriptor() == free_before);
    REQUIRE(pair.far->receive(message));
    CHECK(message.bytes == "one");
    CHECK(message.descriptors.size() == 1);
    CHECK_FALSE(message.has_lost_descriptors);
}

TEST_CASE("the end of the other side is not an error, but sending to it is",
          "[mapi-core][ipc][channel]")
{
    Pair pair;
    Message message;
    pair.near.reset();

    CHECK_FALSE(pair.far->receive(message));
    CHECK_THROWS_AS(pair.far->send("x", {}, 1000), ChannelError);
}

TEST_CASE("the last message of a side that closes without reading arrives",
          "[mapi-core][ipc][channel]")
{
    Pair pair;
    Message message;
    pair.near->send("too many clients", {}, 1000);
    pair.far->send("hello", {}, 1000);
    pair.near.reset();

    REQUIRE(pair.far->receive(message));
    CHECK(message.bytes == "too many clients");
    CHECK_FALSE(pair.far->receive(message));
}

TEST_CASE("a peer that does not read is given up after the timeout", "[mapi-core][ipc][channel]")
{
    Pair pair;
    const std::string bytes(60000, 'x');

    CHECK_THROWS_WITH(
        [&] {
            for (int i = 0; i < 1000; ++i)
                pair.near->send(bytes, {}, 10);
        }(),
        "timed out: the other side does not read");
}
