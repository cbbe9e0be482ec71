// SPDX-License-Identifier: MIT
// mapid: one capture for many programs: devices of mapi.conf, flows of every client.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include "command/arguments.hpp"
#include "daemon/journal_formatter.hpp"
#include "daemon/metrics_server.hpp"
#include "daemon/metrics_text.hpp"
#include "daemon/recording.hpp"
#include "daemon/server.hpp"
#include "daemon/service_manager.hpp"
#include "drivers/catalog.hpp"
#include "engine/config.hpp"
#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "ipc/run_time.hpp"

using namespace mapi;

namespace
{
struct Options {
    std::string config;
    std::string socket;
    std::string group = "mapi";
    std::string log_level = "info";
    std::string metrics;
    bool is_metrics_public = false;
    bool is_check = false;
    std::string record;
    daemon::Limits limits;
    size_t memory_mib = 256;
};

void add_options(command::Arguments &arguments, Options &options)
{
    arguments.add("-c,--config", options.config, "mapi.conf to read; default $MAPI_CONF, ./mapi.conf, /etc/mapi.conf").kind("FILE");
    arguments.add("-s,--socket", options.socket, "where clients find it; default $MAPI_SOCKET, " + ipc::standard_socket()).kind("PATH");
    arguments.add("-g,--group", options.group, "whose members may use devices that name no other group").show_default();
    arguments.add("-l,--log-level", options.log_level, "trace, debug, info, warning, error").show_default().one_of({"trace", "debug", "info", "warning", "error"});
    arguments.add("--max-clients", options.limits.clients, "clients at a time").show_default().range(1, 10000);
    arguments.add("--max-flows", options.limits.flows, "flows of one client").show_default().range(1, 16384);
    arguments.add("--max-functions", options.limits.functions, "functions of one client").show_default().range(1, 1000000);
    arguments.add("--max-memory", options.memory_mib, "MiB of one client, for results and packets").show_default().range(1, 65536);
    arguments.add("--metrics", options.metrics, "serve counters to Prometheus there, at /metrics").kind("ADDRESS:PORT");
    arguments.add_flag("--metrics-public", options.is_metrics_public, "also at an address that others than this machine can reach");
    arguments.add("--record", options.record, "record mapid's own probes from start to end, for nsdump; `mapi-info record` does it at run time").kind("FILE");
    arguments.add_flag("--check", options.is_check, "read mapi.conf, list its devices and end; 1 when something is wrong in it");
    arguments.footer("mapid stays in the foreground and logs to standard error; see mapid(8) for systemd.");
}

// What a line of mapi.conf is about is told with its file and line.
int check(const engine::Registry &registry)
{
    const std::string path = engine::find_config();
    if (path.empty())
        throw Error(MAPI_CONFIG_ERROR, "there is no mapi.conf: name it with --config, set MAPI_CONF, or write it here or in /etc");
    std::istringstream file = engine::open_config(path);
    int wrong = 0;
    for (const engine::DeviceSettings &device : engine::read_config(file, path, registry)) {
        const bool is_known = registry.has_driver(device.driver);
        wrong += !is_known;
        fmt::print("{:<24} {:<12} {}{}\n", device.name, device.driver, device.path, is_known ? "" : "  (no such driver)");
    }
    return wrong ? 1 : 0;
}

// Signals come to one thread alone, which waits for them.
sigset_t block_signals()
{
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&signals, number);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    signal(SIGPIPE, SIG_IGN);
    return signals;
}

// A client's captures take descriptors by the hundred.
void raise_descriptor_limit()
{
    rlimit limit = {};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

// On standard error; journald takes the level from "<N>" before each line.
void start_log(const std::string &level)
{
    auto logger = spdlog::stderr_logger_mt("mapid");
    if (std::getenv("JOURNAL_STREAM"))
        logger->set_formatter(std::make_unique<daemon::JournalFormatter>());
    spdlog::set_default_logger(std::move(logger));
    spdlog::set_level(spdlog::level::from_str(level));
}

std::string listed(const char *what, const std::vector<std::string> &names)
{
    return names.empty() ? "" : fmt::format("; {}: {}", what, fmt::join(names, ", "));
}

// What is wrong in the file is told with its line, and changes nothing.
void reload(engine::Devices &devices)
{
    try {
        const engine::ReloadedConfig read = devices.reload();
        spdlog::info("reload: {}: {} devices{}{}{}", read.file.empty() ? "no mapi.conf" : read.file, read.devices, listed("new", read.added),
                     listed("changed, for flows from now on", read.changed), listed("gone", read.removed));
    } catch (const std::exception &error) {
        spdlog::error("reload: {}; all stays as it was", error.what());
    }
}

void serve(const engine::Registry &registry, const Options &options, const sigset_t &signals)
{
    raise_descriptor_limit();
    engine::Devices devices(registry, {1, true});
    devices.reload();
    daemon::Census census;
    daemon::Service service{registry, devices, options.limits, census, options.group};
    service.limits.memory_bytes = options.memory_mib << 20;
    const std::string path = options.socket.empty() ? ipc::socket_path() : options.socket;
    ipc::Descriptor socket = daemon::inherited_socket();
    const bool is_own = !socket.is_open();
    daemon::Server server(service, is_own ? daemon::listen_at(path) : std::move(socket));
    std::unique_ptr<daemon::MetricsServer> metrics; // ends before what it tells of
    if (!options.metrics.empty())
        metrics = daemon::serve_metrics(options.metrics, options.is_metrics_public, [&] { return daemon::metrics_text(devices, census); });
    std::thread waiter([&] {
        int number = 0;
        while (sigwait(&signals, &number) == 0 && number == SIGHUP)
            reload(devices);
        server.stop();
    });
    spdlog::info("listening at {}", is_own ? path : "the service manager's socket");
    daemon::tell_service_manager("READY=1");
    try {
        server.run();
    } catch (...) {
        pthread_kill(waiter.native_handle(), SIGTERM);
        waiter.join();
        throw;
    }
    waiter.join();
    daemon::tell_service_manager("STOPPING=1");
    std::error_code ignored; // somebody else may have removed it
    if (is_own)
        std::filesystem::remove(path, ignored);
    spdlog::info("ending");
}
} // namespace

int main(int argc, char **argv)
{
    Options options;
    command::Arguments arguments("mapid: captures once and serves the flows of many programs (libmapi)", "mapid");
    add_options(arguments, options);
    try {
        if (const auto reply = arguments.parse(argc, argv)) {
            (reply->is_wrong ? std::cerr : std::cout) << reply->text;
            return reply->is_wrong ? 2 : 0;
        }
        if (!options.config.empty())
            setenv("MAPI_CONF", options.config.c_str(), 1);
        start_log(options.log_level);
        const engine::Registry registry(functions::catalog(), drivers::catalog(), engine::load_plugins());
        if (options.is_check)
            return check(registry);
        const sigset_t signals = block_signals();
        std::optional<daemon::Recording> recording;
        if (!options.record.empty())
            recording.emplace(options.record);
        serve(registry, options, signals);
        return recording && !recording->end().error.empty() ? 1 : 0;
    } catch (const std::exception &error) {
        std::cerr << "mapid: " << error.what() << "\n";
        return 1;
    }
}
