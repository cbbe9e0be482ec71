// SPDX-License-Identifier: MIT
// Listener: the socket at which one mapid waits for clients.
#include "daemon/listener.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/packet_path/group_number.hpp"

namespace mapi::daemon
{
namespace
{
// clients that connect and disconnect must not fill it for others
constexpr int kBacklog = SOMAXCONN;

constexpr const char *kElsewhere = "check the permissions of its folder, or use another --socket";

[[noreturn]] void fail(const std::string &path, const char *what, const char *remedy)
{
    throw std::runtime_error(path + ": " + what + ": " + strerror(errno) + " (" + remedy + ")");
}

sockaddr_un address_of(const std::string &path)
{
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path))
        throw std::runtime_error(path + ": is longer than " +
                                 std::to_string(sizeof(address.sun_path) - 1) +
                                 " bytes (use a shorter --socket)");
    memcpy(address.sun_path, path.c_str(), path.size());
    return address;
}

[[noreturn]] void fail_at_lock(const std::string &name, const std::string &why)
{
    throw std::runtime_error(
        name + ": " + why +
        " (a mapid of another user may have left it: remove it, or use another --socket)");
}

// Closed: another process created the file at the same moment.  The file is only created if there
// is none: in folders such as /tmp the kernel refuses O_CREAT for another user's file
// (fs.protected_regular).
ipc::Descriptor open_lock(const std::string &name)
{
    constexpr int kHow = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat status = {};
    ipc::Descriptor file(open(name.c_str(), kHow));
    if (!file.is_open() && errno == ENOENT) {
        file = ipc::Descriptor(open(name.c_str(), kHow | O_CREAT | O_EXCL, 0600));
        if (!file.is_open() && errno == EEXIST)
            return {};
        if (!file.is_open() && errno == ENOENT)
            fail(name, "cannot create", "create its folder first, or use another --socket");
    }
    if (!file.is_open())
        fail_at_lock(name, strerror(errno));
    if (fstat(file.number(), &status) == 0 &&
        (!S_ISREG(status.st_mode) || status.st_uid != geteuid()))
        fail_at_lock(name, "belongs to user " + std::to_string(status.st_uid) +
                               ", or is not a regular file");
    return file;
}

bool is_at(const ipc::Descriptor &file, const std::string &name)
{
    struct stat own = {}, there = {};
    return fstat(file.number(), &own) == 0 && stat(name.c_str(), &there) == 0 &&
           own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

// Under the lock, no other mapid takes a socket for stale while its owner is about to listen at it.
ipc::Descriptor lock_beside(const std::string &path)
{
    const std::string name = path + ".lock";
    while (true) {
        ipc::Descriptor file = open_lock(name);
        if (!file.is_open())
            continue;
        if (flock(file.number(), LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
            throw std::runtime_error(
                path +
                ": another mapid is running or starting there (end it, or use another --socket)");
        // Where locks are unavailable, as on some network file systems, there is none.  The
        // previous owner removes the file when it ends.
        if (is_at(file, name))
            return file;
    }
}

// Fails if a daemon answers there, or if it is not a socket; removes what is left of one that does
// not.
void remove_stale(const sockaddr_un &address)
{
    const ipc::Descriptor probe(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (connect(probe.number(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0)
        throw std::runtime_error(std::string(address.sun_path) +
                                 ": another mapid is already running there (end it, or use "
                                 "another --socket)");
    struct stat status = {};
    if (errno == ECONNREFUSED && lstat(address.sun_path, &status) == 0 && S_ISSOCK(status.st_mode))
        unlink(address.sun_path);
    else if (lstat(address.sun_path, &status) == 0 && !S_ISSOCK(status.st_mode))
        throw std::runtime_error(std::string(address.sun_path) +
                                 ": exists and is not a socket (remove it, or use another "
                                 "--socket)");
}

// Before clients can connect, which listen() allows.
void give_access(const std::string &path, const SocketAccess &access)
{
    if (!access.group.empty()) {
        const std::optional<gid_t> group = engine::group_number(access.group);
        if (!group)
            throw std::runtime_error(path + ": there is no group \"" + access.group +
                                     "\" (create it, or change socket_group= of mapi.conf)");
        if (chown(path.c_str(), uid_t(-1), *group) < 0)
            throw std::runtime_error(
                path + ": cannot change its group to " + access.group + ": " + strerror(errno) +
                " (socket_group= of mapi.conf; mapid must be root or a member)");
    }
    if (chmod(path.c_str(), mode_t(access.mode)) < 0)
        fail(path, "cannot change its mode", "use another --socket");
}
} // namespace

Listener::Listener(const std::string &path, const SocketAccess &access) : path_(path)
{
    const sockaddr_un address = address_of(path);
    std::error_code ignored; // a failure shows in what follows
    if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
        std::filesystem::create_directory(folder, ignored);
    lock_ = lock_beside(path);
    remove_stale(address);
    socket_ = ipc::Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (bind(socket_.number(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) < 0)
        fail(path, "cannot listen", kElsewhere);
    try {
        give_access(path, access);
        if (listen(socket_.number(), kBacklog) < 0)
            fail(path, "cannot listen", kElsewhere);
    } catch (...) { // the destructor does not run
        unlink(path.c_str());
        unlink((path + ".lock").c_str());
        throw;
    }
}

Listener::~Listener()
{
    unlink(path_.c_str()); // another process may have removed it
    unlink((path_ + ".lock").c_str());
}
} // namespace mapi::daemon
