// SPDX-License-Identifier: MIT
// Fuzz target: any messages of a client -> mapid's session answers each or closes the connection.
// Input: requests, each preceded by its length (two bytes) and a byte that selects the descriptors
// sent with it.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/session/session.hpp"
#include "drivers/catalog.hpp"
#include "functions/catalog.hpp"

namespace
{
using namespace mapi;

// Files that a client opened: a capture of one packet, a file to write, and something that is not a
// file.
int descriptor_of(unsigned kind)
{
    static const uint8_t kCapture[] = {0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0,
                                       0,    0,    0,    4,    0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                       0,    0,    4,    0,    0, 0, 4, 0, 0, 0, 1, 2, 3, 4};
    if (kind == 2)
        return eventfd(0, EFD_CLOEXEC);
    const int file = memfd_create("file", MFD_CLOEXEC);
    if (kind == 0 && write(file, kCapture, sizeof(kCapture)) != sizeof(kCapture))
        abort();
    return file;
}

void talk(int socket, const uint8_t *data, size_t size)
{
    ipc::Channel channel{ipc::Descriptor(socket)};
    ipc::Message reply;
    try {
        ipc::Request hello;
        hello.mutable_hello()->set_version(ipc::kProtocolVersion);
        for (std::string request = hello.SerializeAsString();;) {
            std::vector<ipc::Descriptor> descriptors;
            std::vector<int> numbers;
            if (size >= 3 && reply.bytes.size() > 0) {
                const size_t bytes = std::min<size_t>(size_t(data[0]) << 8 | data[1], size - 3);
                for (unsigned i = 0; i < (data[2] & 3u); ++i)
                    numbers.push_back(
                        descriptors.emplace_back(descriptor_of(data[2] >> (2 + 2 * i) & 3))
                            .number());
                request.assign(reinterpret_cast<const char *>(data + 3), bytes);
                data += 3 + bytes;
                size -= 3 + bytes;
            } else if (reply.bytes.size() > 0) {
                return;
            }
            channel.send(request, numbers, 1000);
            if (!channel.receive(reply))
                return;
        }
    } catch (const ipc::ChannelError &) {
    }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const engine::Registry registry(functions::catalog(), drivers::catalog());
    static engine::Devices devices(registry, {1, true, true});
    static daemon::ClientRegistry clients;
    static daemon::Pulse pulse;
    static daemon::Housekeeping housekeeping(devices);
    static daemon::ClientLog log;
    spdlog::set_level(spdlog::level::off);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        abort();
    const ipc::Descriptor stop(eventfd(0, EFD_CLOEXEC));
    daemon::Limits limits;
    limits.flows = 8;
    limits.functions = 64;
    limits.memory_bytes = size_t(16) << 20;
    std::thread client(talk, ends[1], data, size);
    try {
        daemon::Users users(limits);
        daemon::CostTurns cost_turns;
        const daemon::Service service = {registry, devices, limits,       clients, pulse,
                                         "",       users,   housekeeping, log,     cost_turns};
        // A user without rights: sending is refused.
        daemon::Session session(service, ipc::Descriptor(ends[0]), {getpid(), 65534, {65534}});
        session.serve(stop.number());
    } catch (const ipc::ChannelError &) {
    }
    client.join();
    return 0;
}
