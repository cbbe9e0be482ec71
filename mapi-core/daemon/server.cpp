// SPDX-License-Identifier: MIT
// Server: the socket -> sessions, one thread each.
#include "daemon/server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mapi/errors.h>

namespace mapi::daemon
{
namespace
{
constexpr size_t kClientsOfUser = 64; // except root's
constexpr uint64_t kClientFiles = 4;  // the connection, two memory files, an event
// one place in eight is for root, and for users that have no client yet: a few users cannot take
// all
constexpr size_t kPlacesPerKept = 8;
constexpr auto kUnknownUser = uid_t(-1);

[[noreturn]] void fail(const std::string &what)
{
    throw std::runtime_error(what + ": " + strerror(errno));
}

void set(const ipc::Descriptor &event)
{
    const uint64_t one = 1;
    // only fails if it has been set very often
    [[maybe_unused]] const ssize_t written = write(event.number(), &one, sizeof(one));
}

uid_t user_of(int socket)
{
    try {
        return peer_of(socket).uid;
    } catch (const std::exception &) { // no memory
        return kUnknownUser;
    }
}

// Replies to the handshake, which need not have arrived yet.
void refuse(ipc::Descriptor socket, const std::string &why)
{
    try {
        ipc::Reply reply;
        reply.set_is_reply(true);
        reply.set_error(MAPI_LIMIT_REACHED);
        reply.set_text(why);
        ipc::Channel(std::move(socket)).send(reply.SerializeAsString(), {}, 0);
    } catch (const std::exception &) { // it has disconnected, or there is no memory
    }
}
} // namespace

Server::Server(const Service &service, ipc::Descriptor socket)
    : service_(service), socket_(std::move(socket)), stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), spare_(eventfd(0, EFD_CLOEXEC)),
      reception_(service.log)
{
    if (!stop_.is_open() || !wake_.is_open())
        fail("cannot create an event");
}

Server::~Server()
{
    stop();
    for (Client &client : clients_) {
        if (client.thread.joinable())
            client.thread.join();
    }
}

void Server::stop()
{
    set(stop_);
}

void Server::run()
{
    std::vector<pollfd> events;
    while (true) {
        events = {{socket_.number(), POLLIN, 0},
                  {stop_.number(), POLLIN, 0},
                  {wake_.number(), POLLIN, 0}};
        const size_t own = events.size();
        reception_.append_to(events);
        if (poll(events.data(), events.size(), reception_.timeout_ms()) < 0 && errno != EINTR)
            fail("cannot wait for clients");
        if (events[1].revents)
            return;
        uint64_t count;
        if (events[2].revents && read(wake_.number(), &count, sizeof(count)) > 0)
            join_done();
        for (Guest &guest : reception_.take_spoken(events.data() + own))
            begin(std::move(guest));
        if (events[0].revents)
            accept_one();
    }
}

void Server::accept_one()
{
    ipc::Descriptor socket(accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.is_open()) {
        if (errno == EMFILE || errno == ENFILE)
            refuse_one();
        return;
    }
    join_done();
    Guest guest{std::move(socket), {0, kUnknownUser, {}}, {}};
    try {
        guest.peer = peer_of(guest.socket.number());
        admit(guest);
    } catch (const std::exception &error) { // no memory: other clients are still served
        refuse_after(error, guest.peer.uid);
    }
}

void Server::refuse_after(const std::exception &error, uid_t user)
{
    ++service_.clients.tally.clients_refused;
    service_.log.error(user, "user {}: client refused: {}", user, error.what());
}

// mapid can open no more files: each client that connects is refused with that message, so that
// clients behind it are not left waiting.
void Server::refuse_one()
{
    const int no_more_files = errno;
    spare_.reset();
    ipc::Descriptor socket(accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.is_open()) {
        ++service_.clients.tally.clients_refused;
        const uid_t user = user_of(socket.number());
        service_.log.warn(user, "user {}: client refused: {}", user, strerror(no_more_files));
        refuse(std::move(socket), "mapid has reached its limit of open files (LimitNOFILE=)");
    }
    spare_ = ipc::Descriptor(eventfd(0, EFD_CLOEXEC));
    if (!spare_.is_open())
        // another thread took the descriptor: nothing can be done until a file is closed
        usleep(100000);
}

void Server::admit(Guest &guest)
{
    guest.files = engine::QuotaUse(service_.users.of(guest.peer).files);
    if (has_room(guest.peer) && guest.files.add(kClientFiles))
        return reception_.add(std::move(guest));
    const uid_t user = guest.peer.uid;
    const std::string why = "mapid has reached its limit of clients (--max-clients), or user " +
                            std::to_string(user) +
                            " has reached its own limit of clients or open files";
    ++service_.clients.tally.clients_refused; // nothing may fail from here on: it is counted once
    service_.log.warn(user, "user {}: client refused: too many clients", user);
    refuse(std::move(guest.socket), why);
}

void Server::begin(Guest guest)
{
    const std::lock_guard lock(mutex_);
    Client &client = clients_.emplace_back();
    client.uid = guest.peer.uid;
    try {
        client.thread = std::thread(
            [this, &client, guest = std::move(guest)]() mutable { serve(client, guest); });
    } catch (const std::exception &error) { // no memory, no thread: other clients are still served
        const uid_t user = client.uid;
        clients_.pop_back();
        refuse_after(error, user);
    }
}

bool Server::has_room(const Peer &peer)
{
    const std::lock_guard lock(mutex_);
    const auto is_of_user = [&](const Client &client) { return client.uid == peer.uid; };
    const size_t of_user = size_t(std::count_if(clients_.begin(), clients_.end(), is_of_user)) +
                           reception_.count_of(peer.uid);
    const size_t all = clients_.size() + reception_.size(), places = service_.limits.clients;
    if (is_operator(peer) || of_user == 0)
        return all < places && (peer.uid == 0 || of_user < kClientsOfUser);
    return all < places - places / kPlacesPerKept && of_user < kClientsOfUser;
}

void Server::serve(Client &client, Guest &guest)
{
    const pid_t pid = guest.peer.pid;
    const uid_t user = guest.peer.uid;
    service_.log.info(user, "client {} of user {}: connected", pid, user);
    try {
        Session(service_, std::move(guest.socket), std::move(guest.peer)).serve(stop_.number());
        service_.log.info(user, "client {} of user {}: disconnected", pid, user);
    } catch (const std::exception &error) {
        service_.log.warn(user, "client {} of user {}: dropped: {}", pid, user, error.what());
    }
    const std::lock_guard lock(mutex_);
    client.is_done = true;
    set(wake_);
}

void Server::join_done()
{
    std::list<Client> done;
    {
        const std::lock_guard lock(mutex_);
        for (auto client = clients_.begin(); client != clients_.end();) {
            const auto next = std::next(client);
            if (client->is_done)
                done.splice(done.end(), clients_, client);
            client = next;
        }
    }
    for (Client &client : done)
        client.thread.join();
    if (!done.empty())
        service_.housekeeping.want();
}
} // namespace mapi::daemon
