// SPDX-License-Identifier: MIT
// Reception: connections before the handshake.
#include "daemon/session/reception.hpp"

#include <algorithm>

#include <spdlog/spdlog.h>
#include <sys/socket.h>

namespace mapi::daemon
{
namespace
{
constexpr auto kTime = std::chrono::seconds(5);

// The peer has closed and there is nothing to read.  An empty message looks the same except for
// POLLRDHUP.
bool has_hung_up(const pollfd &event)
{
    char byte;
    return (event.revents & (POLLRDHUP | POLLHUP | POLLERR)) &&
           recv(event.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}
} // namespace

void Reception::add(Guest guest)
{
    waiting_.push_back({std::move(guest), Clock::now() + kTime});
}

size_t Reception::count_of(uid_t user) const
{
    return size_t(std::count_if(waiting_.begin(), waiting_.end(), [user](const Waiting &waiting) {
        return waiting.guest.peer.uid == user;
    }));
}

void Reception::append_to(std::vector<pollfd> &events) const
{
    for (const Waiting &waiting : waiting_)
        events.push_back({waiting.guest.socket.number(), POLLIN | POLLRDHUP, 0});
}

int Reception::timeout_ms() const
{
    if (waiting_.empty())
        return -1;
    return std::max(
        0, int(std::chrono::ceil<std::chrono::milliseconds>(waiting_.front().end - Clock::now())
                   .count()));
}

std::vector<Guest> Reception::take_spoken(const pollfd *events)
{
    std::vector<Guest> spoken;
    const auto now = Clock::now();
    for (auto waiting = waiting_.begin(); waiting != waiting_.end(); ++events) {
        const auto at = waiting++;
        if (events->revents != 0 && has_hung_up(*events)) {
            spdlog::debug("client {} of user {}: disconnected before the handshake",
                          at->guest.peer.pid, at->guest.peer.uid);
        } else if (events->revents != 0) {
            spoken.push_back(std::move(at->guest));
        } else if (now >= at->end) {
            log_.warn(at->guest.peer.uid, "client {} of user {}: disconnected: handshake timed out",
                      at->guest.peer.pid, at->guest.peer.uid);
        } else {
            continue;
        }
        waiting_.erase(at);
    }
    return spoken;
}
} // namespace mapi::daemon
