// SPDX-License-Identifier: MIT
// Server: the socket -> sessions, one thread each.
#pragma once

#include <list>
#include <mutex>
#include <thread>

#include "daemon/session/reception.hpp"
#include "daemon/session/session.hpp"
#include "ipc/descriptor.hpp"

namespace mapi::daemon
{
class Server
{
public:
    Server(const Service &service, ipc::Descriptor socket);
    ~Server();
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;

    // Runs until stop().
    void run();
    // Any thread, or a signal handler.
    void stop();

private:
    struct Client {
        uid_t uid = 0;
        std::thread thread;
        bool is_done = false; // under mutex_
    };

    void accept_one();
    void refuse_one();
    void admit(Guest &guest);
    // The error is reported, and others are still served.
    void refuse_after(const std::exception &error, uid_t user);
    void begin(Guest guest);
    bool has_room(const Peer &peer);
    void serve(Client &client, Guest &guest);
    void join_done();

    const Service &service_;
    const ipc::Descriptor socket_;
    const ipc::Descriptor stop_;
    const ipc::Descriptor wake_; // a client is done
    // closed to refuse a client with a message when mapid may open no more files
    ipc::Descriptor spare_;
    Reception reception_; // used by run()
    std::mutex mutex_;    // protects all members below
    std::list<Client> clients_;
};
} // namespace mapi::daemon
