// SPDX-License-Identifier: MIT
// Metrics server: unavailable in a build without libmicrohttpd.
#include <stdexcept>

#include "daemon/reporting/metrics_server.hpp"

namespace mapi::daemon
{
std::string metrics_address_error(const std::string &, bool)
{
    return ""; // serve_metrics() refuses all
}

std::unique_ptr<MetricsServer> serve_metrics(const std::string &, std::function<std::string()>)
{
    throw std::runtime_error("--metrics: unavailable: built without libmicrohttpd");
}
} // namespace mapi::daemon
