// SPDX-License-Identifier: MIT
// Connection: this process and its mapid: requests, replies and the memory that they share.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ipc/channel.hpp"
#include "ipc/mapi.pb.h"
#include "ipc/mapping.hpp"
#include "ipc/pulse.hpp"

namespace mapi::client
{
// Any thread.
class Connection
{
public:
    // Null: no mapid listens at the path.  Throws Error if one does but is unusable.
    static std::shared_ptr<Connection> open(const std::string &path);

    // Sends one request and returns its reply, with at most `most` descriptors.  Throws Error: that
    // of the reply, or one of MCOM_.
    ipc::Reply ask(const ipc::Request &request, const std::vector<int> &descriptors = {},
                   std::vector<ipc::Descriptor> *received = nullptr, size_t most = 0);

    // For a request in several parts, which other threads' requests of this kind must not mix with.
    std::unique_lock<std::mutex> lock_parts() { return std::unique_lock(parts_mutex_); }

    // False: mapid has ended, is stopped or hangs, or this is a forked process.
    bool is_alive() const;
    // Throws an Error that names the cause if is_alive() is false.
    void need_mapid() const;
    // Throws Error in a child after fork().
    void need_own_process() const;
    const std::string &path() const { return path_; }
    // Memory that mapid writes and this process can only read.  Throws Error if the range is
    // outside.
    uint8_t *engine_memory(uint64_t offset, uint64_t bytes) const;
    uint8_t *client_memory(uint64_t offset, uint64_t bytes) const;

private:
    Connection(ipc::Descriptor socket, std::string path);
    void shake_hands();
    ipc::Message receive(size_t most);
    bool has_hung_up() const;
    bool is_other_process() const;
    bool is_silent() const { return pulse_ && ipc::is_silent(*pulse_); }
    ipc::Mapping map(const ipc::Descriptor &memory, uint64_t bytes, bool is_writable) const;
    [[noreturn]] void fail(int number, const std::string &what) const;

    ipc::Channel channel_;
    const std::string path_;
    const int process_;
    std::mutex mutex_; // one request at a time
    std::mutex parts_mutex_;
    ipc::Mapping engine_;
    const ipc::PulseWord *pulse_ = nullptr; // in engine_, after the handshake; null: mapid has none
    bool has_shaken_hands_ = false;
    ipc::Mapping client_;
};
} // namespace mapi::client
