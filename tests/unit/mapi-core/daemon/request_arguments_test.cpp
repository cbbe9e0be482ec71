// SPDX-License-Identifier: MIT
// Arguments in a client's request: what libmapi never sends ends the connection, what it may send
// is checked against limits.
#include "daemon/session/request_arguments.hpp"

#include <mapi/errors.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "engine/error.hpp"
#include "ipc/channel.hpp"
#include "support/catch.hpp"

using mapi::daemon::ArgumentReader;
namespace ipc = mapi::ipc;

namespace
{
struct Call {
    ipc::Apply request;
    std::vector<ipc::Descriptor> descriptors;

    ipc::Argument &add(char kind, int64_t number = 0, const std::string &text = "")
    {
        ipc::Argument &argument = *request.add_arguments();
        argument.set_kind(uint32_t(kind));
        argument.set_number(number);
        argument.set_text(text);
        return argument;
    }

    mapi::engine::Arguments read(const std::string &letters)
    {
        mapi::daemon::Peer peer{};
        peer.uid = 77;
        const auto find = [](int flow) -> std::shared_ptr<mapi::engine::Flow> {
            throw mapi::Error(MAPI_INVALID_FLOW, "there is no flow " + std::to_string(flow));
        };
        return ArgumentReader(peer, find, descriptors).read(request, letters);
    }
};
} // namespace

TEST_CASE("arguments of a client must match those of the function", "[mapi-core][daemon]")
{
    Call call;
    call.add('s', 0, "tcp");
    call.add('i', -5);
    const auto arguments = call.read("si");
    REQUIRE(arguments.size() == 2);
    CHECK(arguments[0].text == "tcp");
    CHECK(arguments[1].number == -5);
    CHECK_THROWS_AS(call.read("is"), ipc::ChannelError);
    CHECK_THROWS_AS(call.read("sii"), ipc::ChannelError);
}

TEST_CASE("an argument may be missing only where it is marked as optional", "[mapi-core][daemon]")
{
    Call call;
    call.add('s', 0, "tcp");
    call.add('\0');
    CHECK(call.read("s?i").size() == 2);
    CHECK_THROWS_AS(call.read("si"), ipc::ChannelError);
}

TEST_CASE("a client's int must fit an int, and its user is the one that the kernel reports",
          "[mapi-core][daemon]")
{
    Call wide;
    wide.add('i', int64_t(1) << 31);
    CHECK_THROWS_AS(wide.read("i"), ipc::ChannelError);
    Call longer;
    longer.add('l', int64_t(1) << 40);
    CHECK(longer.read("l").at(0).number == int64_t(1) << 40);
    Call user;
    user.add('u', 0);
    CHECK(user.read("u").at(0).number == 77);
}

TEST_CASE("a file argument is the received descriptor, and must be a regular file",
          "[mapi-core][daemon]")
{
    Call none;
    none.add('w', 3, "out");
    CHECK_THROWS_AS(none.read("w"), ipc::ChannelError);
    Call event;
    event.add('w', 3, "out");
    event.descriptors.emplace_back(eventfd(0, EFD_CLOEXEC));
    CHECK_THROWS_AS(event.read("w"), mapi::Error);
    Call file;
    file.add('w', 3, "out");
    const int descriptor = memfd_create("out", MFD_CLOEXEC);
    file.descriptors.emplace_back(descriptor);
    CHECK(file.read("w").at(0).number == descriptor);
}

TEST_CASE("functions and flows in a client's arguments must be its own", "[mapi-core][daemon]")
{
    Call plain;
    plain.add('s', 0, "tcp").add_targets();
    CHECK_THROWS_AS(plain.read("s"), ipc::ChannelError);
    Call foreign;
    foreign.add('f', 1).add_targets()->set_flow(9);
    CHECK_THROWS_AS(foreign.read("f"), mapi::Error);
    Call without;
    without.add('f', 1);
    CHECK_THROWS_AS(without.read("f"), ipc::ChannelError);
    Call fewer;
    fewer.add('S', 2, "1@1,2@1");
    CHECK_THROWS_AS(fewer.read("S"), ipc::ChannelError);
}
