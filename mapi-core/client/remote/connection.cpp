// SPDX-License-Identifier: MIT
// Connection: requests from this process to its mapid.
#include "client/remote/connection.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/error.hpp"

namespace mapi::client
{
namespace
{
constexpr int kSendTimeoutMs = 5000;
constexpr const char *kForked = "this process was forked from the one that is connected (create "
                                "its own flows, or call mapi_reconnect())";
constexpr int kHandshakeMs = 10000;
// interval for checking whether a mapid with a pending request still runs
constexpr int kLookAgainMs = 200;
constexpr size_t kMemoryPieces = 2;
} // namespace

std::shared_ptr<Connection> Connection::open(const std::string &path)
{
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path))
        throw Error(MCOM_INIT_SOCKET_ERROR, path + ": socket path is too long");
    memcpy(address.sun_path, path.c_str(), path.size());
    ipc::Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (::connect(socket.number(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) <
        0) {
        if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR)
            return nullptr;
        throw Error(MCOM_INIT_SOCKET_ERROR,
                    "mapid at " + path + " cannot be reached: " + strerror(errno) +
                        (errno == EACCES
                             ? " (access is set by socket_mode and socket_group of mapi.conf)"
                             : ""));
    }
    std::shared_ptr<Connection> connection(new Connection(std::move(socket), path));
    connection->shake_hands();
    return connection;
}

Connection::Connection(ipc::Descriptor socket, std::string path)
    : channel_(std::move(socket)), path_(std::move(path)), process_(getpid())
{
}

void Connection::fail(int number, const std::string &what) const
{
    throw Error(number, "mapid at " + path_ + ": " + what);
}

void Connection::shake_hands()
{
    ipc::Request request;
    request.mutable_hello()->set_version(ipc::kProtocolVersion);
    std::vector<ipc::Descriptor> memory;
    const ipc::Welcome welcome = ask(request, {}, &memory, kMemoryPieces).welcome();
    if (memory.size() != kMemoryPieces)
        fail(MCOM_UNKNOWN_ERROR, "incomplete handshake");
    engine_ = map(memory[0], welcome.engine_bytes(), false);
    client_ = map(memory[1], welcome.client_bytes(), true);
    has_shaken_hands_ = true;
    if (welcome.has_pulse_offset()) // an older mapid has none
        pulse_ = reinterpret_cast<const ipc::PulseWord *>(
            engine_memory(welcome.pulse_offset(), sizeof(ipc::PulseWord)));
}

// A request may take long, but a mapid that does not run never replies.  The socket is then shut
// down, so that a late reply is not taken for the reply to a later request.
ipc::Message Connection::receive(size_t most)
{
    const uint64_t began_ns = ipc::monotonic_ns();
    pollfd event = {channel_.socket(), POLLIN, 0};
    while (poll(&event, 1, kLookAgainMs) <= 0) {
        const bool has_no_handshake =
            !has_shaken_hands_ && ipc::monotonic_ns() - began_ns > kHandshakeMs * 1000000ull;
        if (!has_no_handshake && !is_silent())
            continue;
        shutdown(channel_.socket(), SHUT_RDWR);
        fail(has_shaken_hands_ ? MCOM_SOCKET_ERROR : MCOM_INIT_SOCKET_ERROR,
             "does not answer: it is stopped or hangs");
    }
    ipc::Message message;
    if (!channel_.receive(message, most))
        fail(MCOM_SOCKET_ERROR, "has closed the connection");
    return message;
}

// Reading memory that has shrunk would end this process with SIGBUS.
ipc::Mapping Connection::map(const ipc::Descriptor &memory, uint64_t bytes, bool is_writable) const
{
    struct stat status = {};
    const int seals = fcntl(memory.number(), F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(memory.number(), &status) < 0 ||
        bytes > uint64_t(status.st_size))
        fail(MCOM_UNKNOWN_ERROR,
             "its shared memory is smaller than announced, or not sealed against shrinking");
    ipc::Mapping mapping(memory.number(), bytes, is_writable);
    if (!mapping.data())
        fail(MCOM_UNKNOWN_ERROR, std::string("cannot map its memory: ") + strerror(errno));
    return mapping;
}

ipc::Reply Connection::ask(const ipc::Request &request, const std::vector<int> &descriptors,
                           std::vector<ipc::Descriptor> *received, size_t most)
{
    need_own_process();
    const std::lock_guard lock(mutex_);
    ipc::Reply reply;
    try {
        ipc::Message message;
        bool is_sent = false;
        try {
            channel_.send(request.SerializeAsString(), descriptors, kSendTimeoutMs);
            is_sent = true;
            // mapid may have sent the reason before it closed the connection
        } catch (const ipc::ChannelError &) {
            if (!has_hung_up() || !channel_.receive(message, most))
                throw;
        }
        if (is_sent)
            message = receive(most);
        if (!reply.ParseFromString(message.bytes) || !reply.is_reply())
            fail(MCOM_UNKNOWN_ERROR, "malformed reply");
        if (message.has_lost_descriptors)
            fail(MCOM_UNKNOWN_ERROR,
                 "sent a file, but this program has reached its limit of open files (raise it "
                 "with `ulimit -n`)");
        if (received)
            *received = std::move(message.descriptors);
    } catch (const ipc::ChannelError &error) {
        fail(MCOM_SOCKET_ERROR, error.what());
    }
    if (reply.error() != 0)
        throw Error(reply.error(), reply.text());
    return reply;
}

bool Connection::has_hung_up() const
{
    pollfd event = {channel_.socket(), POLLRDHUP, 0};
    return poll(&event, 1, 0) != 0;
}

bool Connection::is_other_process() const
{
    return getpid() != process_;
}

bool Connection::is_alive() const
{
    return !is_other_process() && !has_hung_up() && !is_silent();
}

void Connection::need_own_process() const
{
    if (is_other_process())
        fail(MCOM_SOCKET_ERROR, kForked);
}

void Connection::need_mapid() const
{
    need_own_process();
    if (has_hung_up())
        fail(MCOM_SOCKET_ERROR, "is gone");
    if (is_silent())
        fail(MCOM_SOCKET_ERROR, "is stopped or hangs: results are no longer updated");
}

uint8_t *Connection::engine_memory(uint64_t offset, uint64_t bytes) const
{
    uint8_t *const at = engine_.at(offset, bytes);
    if (!at)
        fail(MCOM_UNKNOWN_ERROR, "malformed reply: memory out of range");
    return at;
}

uint8_t *Connection::client_memory(uint64_t offset, uint64_t bytes) const
{
    uint8_t *const at = client_.at(offset, bytes);
    if (!at)
        fail(MCOM_UNKNOWN_ERROR, "malformed reply: memory out of range");
    return at;
}
} // namespace mapi::client
