// SPDX-License-Identifier: MIT
// Metrics server: GET /metrics -> a text, on an address of this machine.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace mapi::daemon
{
class MetricsServer
{
public:
    virtual ~MetricsServer() = default;
};

// What is wrong with an address; empty if it is valid: "127.0.0.1:9100", "[::1]:9100".  Any but
// loopback requires may_be_public.
std::string metrics_address_error(const std::string &address, bool may_be_public);

// A valid address.  `text` is called on a thread of the server.  Throws std::runtime_error.
std::unique_ptr<MetricsServer> serve_metrics(const std::string &address,
                                             std::function<std::string()> text);
} // namespace mapi::daemon
