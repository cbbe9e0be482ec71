// SPDX-License-Identifier: MIT
// Listener: the socket at which one mapid waits for clients.
#include "daemon/listener.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace mapi::daemon
{
namespace
{
constexpr int kBacklog = 64;

[[noreturn]] void fail(const std::string &what)
{
    throw std::runtime_error(what + ": " + strerror(errno));
}

sockaddr_un address_of(const std::string &path)
{
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path))
        throw std::runtime_error(path + ": is longer than a socket's name can be, " + std::to_string(sizeof(address.sun_path) - 1) + " bytes");
    memcpy(address.sun_path, path.c_str(), path.size());
    return address;
}

// Under the lock nobody else takes a socket for stale that its owner is about to listen at.
ipc::Descriptor lock_beside(const std::string &path)
{
    const std::string name = path + ".lock";
    ipc::Descriptor lock(open(name.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock.is_open())
        fail(name);
    return lock;
}

// Whether a daemon answers there; what is left of one that does not is removed.
void remove_stale(const sockaddr_un &address)
{
    const ipc::Descriptor probe(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (connect(probe.number(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0)
        throw std::runtime_error(std::string(address.sun_path) + ": another mapid answers there already");
    struct stat status = {};
    if (errno == ECONNREFUSED && lstat(address.sun_path, &status) == 0 && S_ISSOCK(status.st_mode))
        unlink(address.sun_path);
}
} // namespace

Listener::Listener(const std::string &path) : path_(path)
{
    const sockaddr_un address = address_of(path);
    std::error_code ignored; // what follows tells it
    if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
        std::filesystem::create_directory(folder, ignored);
    lock_ = lock_beside(path);
    if (flock(lock_.number(), LOCK_EX | LOCK_NB) < 0)
        throw std::runtime_error(path + ": another mapid answers there already, or is about to");
    remove_stale(address);
    socket_ = ipc::Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (bind(socket_.number(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) < 0)
        fail(path);
    if (chmod(path.c_str(), 0666) < 0 || listen(socket_.number(), kBacklog) < 0)
        fail(path);
}

Listener::~Listener()
{
    unlink(path_.c_str()); // somebody else may have removed it
}
} // namespace mapi::daemon
