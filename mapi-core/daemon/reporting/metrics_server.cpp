// SPDX-License-Identifier: MIT
// Metrics server: GET /metrics -> a text, by libmicrohttpd.
#include "daemon/reporting/metrics_server.hpp"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>

namespace mapi::daemon
{
namespace
{
constexpr unsigned kConnectionsMax = 16;
constexpr unsigned kTimeoutS = 10;

struct Address {
    sockaddr_storage storage = {};
    bool is_local = false;
};

// getaddrinfo() takes numbers beyond 65535 modulo 65536.
bool is_port(const std::string &text)
{
    unsigned port = 0;
    const char *const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, port);
    return error == std::errc() && stop == end && port <= UINT16_MAX;
}

// A number, not a name: "127.0.0.1:9100", "[::1]:9100".
std::optional<Address> parse(const std::string &text)
{
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos)
        return std::nullopt;
    std::string host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
    addrinfo *found = nullptr;
    if (host.empty() || !is_port(text.substr(colon + 1)) ||
        getaddrinfo(host.c_str(), text.substr(colon + 1).c_str(), &hints, &found) != 0)
        return std::nullopt;
    Address address;
    memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    if (address.storage.ss_family == AF_INET6)
        address.is_local = IN6_IS_ADDR_LOOPBACK(
            &reinterpret_cast<const sockaddr_in6 &>(address.storage).sin6_addr);
    else
        address.is_local =
            ntohl(reinterpret_cast<const sockaddr_in &>(address.storage).sin_addr.s_addr) >> 24 ==
            127;
    return address;
}

class Server final : public MetricsServer
{
public:
    Server(const std::string &name, const Address &address, std::function<std::string()> text)
        : text_(std::move(text))
    {
        const unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD |
                               (address.storage.ss_family == AF_INET6 ? unsigned(MHD_USE_IPv6) : 0);
        daemon_ = MHD_start_daemon(flags, 0, nullptr, nullptr, &Server::answer, this,
                                   MHD_OPTION_SOCK_ADDR, &address.storage,
                                   MHD_OPTION_CONNECTION_LIMIT, kConnectionsMax,
                                   MHD_OPTION_CONNECTION_TIMEOUT, kTimeoutS, MHD_OPTION_END);
        if (!daemon_)
            throw std::runtime_error("--metrics: " + name + ": cannot listen: " + strerror(errno) +
                                     " (use an address of this machine and a free port)");
    }
    ~Server() override { MHD_stop_daemon(daemon_); }

private:
    static MHD_Result answer(void *self, MHD_Connection *connection, const char *path,
                             const char *method, const char *, const char *, size_t *, void **)
    {
        try {
            if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
                return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is supported\n");
            if (strcmp(path, "/metrics") != 0)
                return reply(connection, MHD_HTTP_NOT_FOUND, "not found; available: /metrics\n");
            return reply(connection, MHD_HTTP_OK, static_cast<Server *>(self)->text_());
        } catch (const std::exception &) {
            return MHD_NO;
        }
    }
    static MHD_Result reply(MHD_Connection *connection, unsigned code, const std::string &text)
    {
        MHD_Response *response = MHD_create_response_from_buffer(
            text.size(), const_cast<char *>(text.data()), MHD_RESPMEM_MUST_COPY);
        if (!response)
            return MHD_NO;
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                "text/plain; version=0.0.4; charset=utf-8");
        const MHD_Result result = MHD_queue_response(connection, code, response);
        MHD_destroy_response(response);
        return result;
    }

    const std::function<std::string()> text_;
    MHD_Daemon *daemon_ = nullptr;
};
} // namespace

std::string metrics_address_error(const std::string &address, bool may_be_public)
{
    const std::optional<Address> parsed = parse(address);
    if (!parsed)
        return "\"" + address +
               "\" is not a numeric ADDRESS:PORT (such as 127.0.0.1:9100 or [::1]:9100)";
    if (!parsed->is_local && !may_be_public)
        return address + ": other machines can reach this address (--metrics-public allows it)";
    return "";
}

std::unique_ptr<MetricsServer> serve_metrics(const std::string &address,
                                             std::function<std::string()> text)
{
    const std::optional<Address> parsed = parse(address);
    if (!parsed)
        throw std::runtime_error("--metrics: " + metrics_address_error(address, true));
    return std::make_unique<Server>(address, *parsed, std::move(text));
}
} // namespace mapi::daemon
