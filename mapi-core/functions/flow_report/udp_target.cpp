// SPDX-License-Identifier: MIT
// UDP target: messages -> datagrams for "host:port".
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "functions/flow_report/report_sink.hpp"

namespace mapi::functions
{
namespace
{
struct FreeAddresses {
    void operator()(addrinfo *addresses) const { freeaddrinfo(addresses); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// "192.0.2.1:2055", "[2001:db8::1]:4739", "collector:2055"
Addresses resolve(const std::string &address)
{
    const size_t colon = address.rfind(':');
    std::string host = address.substr(0, colon), port = address.substr(colon + 1);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    addrinfo wanted = {}, *found = nullptr;
    wanted.ai_socktype = SOCK_DGRAM;
    wanted.ai_flags = AI_NUMERICSERV;
    if (const int error = getaddrinfo(host.c_str(), port.c_str(), &wanted, &found))
        throw std::runtime_error(address + ": " + gai_strerror(error));
    return Addresses(found);
}

class UdpTarget : public MessageTarget
{
public:
    explicit UdpTarget(const std::string &address)
    {
        const Addresses addresses = resolve(address);
        for (const addrinfo *at = addresses.get(); at && socket_ < 0; at = at->ai_next)
            open(*at);
        if (socket_ < 0)
            throw std::runtime_error(address + ": " + std::generic_category().message(errno));
        const timeval patience = {1, 0}; // timeout for a blocked link
        setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    }
    ~UdpTarget() override { close(socket_); }
    UdpTarget(const UdpTarget &) = delete;

    // An error may be reported at any later time; it then refers to an earlier message.
    int send(const std::string &message, uint64_t flows, const RecordSink::IsGivenUp &) override
    {
        if (::send(socket_, message.data(), message.size(), MSG_NOSIGNAL) < 0)
            return errno;
        last_flows_ = flows;
        return 0;
    }

    uint64_t take_lost(int &error) override
    {
        int refused = 0;
        socklen_t bytes = sizeof(refused);
        if (getsockopt(socket_, SOL_SOCKET, SO_ERROR, &refused, &bytes) < 0 || refused == 0)
            return 0;
        error = refused;
        return std::exchange(last_flows_, 0);
    }

private:
    void open(const addrinfo &address)
    {
        socket_ = socket(address.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, address.ai_protocol);
        if (socket_ < 0 || connect(socket_, address.ai_addr, address.ai_addrlen) == 0)
            return;
        const int error = errno;
        close(std::exchange(socket_, -1));
        errno = error;
    }

    int socket_ = -1;
    uint64_t last_flows_ = 0; // in the previous message
};
} // namespace

std::unique_ptr<MessageTarget> make_udp_target(const std::string &address)
{
    return std::make_unique<UdpTarget>(address);
}
} // namespace mapi::functions
