// SPDX-License-Identifier: MIT
// mapid: devices of mapi.conf, and flows of all clients -> one capture for many programs.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/un.h>

#include "common/command/arguments.hpp"
#include "daemon/heap.hpp"
#include "daemon/listener.hpp"
#include "daemon/recording.hpp"
#include "daemon/reporting/log.hpp"
#include "daemon/reporting/metrics_server.hpp"
#include "daemon/reporting/metrics_text.hpp"
#include "daemon/reporting/service_manager.hpp"
#include "daemon/server.hpp"
#include "drivers/catalog.hpp"
#include "engine/config/config.hpp"
#include "engine/config/config_values.hpp"
#include "engine/error.hpp"
#include "engine/packet_path/group_number.hpp"
#include "functions/catalog.hpp"
#include "ipc/run_time.hpp"

using namespace mapi;

namespace
{
struct Options {
    std::string config;
    std::string socket;
    std::string group = "mapi";
    bool is_group_named = false; // on the command line
    std::string log_level;       // empty: as in mapi.conf
    std::string log_file;
    std::string metrics;
    bool is_metrics_public = false;
    bool is_check = false;
    bool is_verbose = false;
    std::string record;
    daemon::Limits limits;
    size_t memory_mib = 0; // 0: as in mapi.conf; the same below
    size_t function_memory_mib = 0;
    size_t user_memory_mib = 0;
};

// What only a mapid that serves clients uses: not with --check.
class ServerOptions
{
public:
    explicit ServerOptions(command::Arguments &arguments) : arguments_(arguments) {}

    template <class Variable>
    command::Argument add(const std::string &names, Variable &variable, const std::string &help)
    {
        return keep(names, arguments_.add(names, variable, help));
    }
    void add_flag(const std::string &names, bool &variable, const std::string &help)
    {
        keep(names, arguments_.add_flag(names, variable, help));
    }
    bool was_given(const std::string &names) const
    {
        return std::any_of(known_.begin(), known_.end(), [&](const auto &one) {
            return one.first == names && one.second.was_given();
        });
    }
    // Empty: none was given.
    std::string first_given() const
    {
        for (const auto &[names, argument] : known_)
            if (argument.was_given())
                return names.substr(0, names.find(','));
        return "";
    }

private:
    command::Argument keep(const std::string &names, const command::Argument &argument)
    {
        known_.emplace_back(names, argument);
        return argument;
    }

    command::Arguments &arguments_;
    std::vector<std::pair<std::string, command::Argument>> known_;
};

std::string check_socket(const std::string &text)
{
    constexpr size_t kMost = sizeof(sockaddr_un::sun_path) - 1;
    if (text.size() > kMost)
        return fmt::format("is longer than {} bytes (use a shorter path)", kMost);
    return command::is_given(text);
}

std::string check_trace(const std::string &text)
{
    if (text == "-")
        return "the trace cannot be written to standard output (specify a file)";
    return command::is_given(text);
}

void add_limits(ServerOptions &server, Options &options)
{
    server.add("--max-clients", options.limits.clients, "maximum number of clients at a time")
        .show_default()
        .range(1, 10000);
    server
        .add("--max-flows", options.limits.flows,
             "maximum number of flows and captures of one client")
        .show_default()
        .range(1, 32768);
    server
        .add("--max-functions", options.limits.functions,
             "maximum number of functions of one client")
        .show_default()
        .range(1, 1000000);
    server
        .add("--max-memory", options.memory_mib,
             "limit in MiB of one client's results and packets; default: max_memory of mapi.conf, "
             "or 256")
        .range(1, 65536);
    server
        .add("--max-function-memory", options.function_memory_mib,
             "limit in MiB of the other memory of one client: its functions (such as tables of "
             "flows), captures, flows and options; default: max_function_memory of mapi.conf, or "
             "4096")
        .range(1, 1048576);
    server
        .add("--max-user-memory", options.user_memory_mib,
             "limit in MiB of both for all clients of one user; default: max_user_memory of "
             "mapi.conf, or 8192")
        .range(1, 1048576);
}

void add_log(ServerOptions &server, Options &options)
{
    server
        .add("--log-level", options.log_level,
             "least severe messages to log; default: log_level of mapi.conf, or info")
        .one_of({"trace", "debug", "info", "warning", "error"});
    server.add_flag("-v,--verbose", options.is_verbose, "the same as --log-level debug");
    server
        .add("--log-file", options.log_file,
             "append the log to this file; default: logfile of mapi.conf, or standard error")
        .kind("FILE")
        .check(command::is_given);
}

// Throws WrongUse.
void combine(const Options &options, const ServerOptions &server)
{
    const std::string given = server.first_given();
    if (options.is_check && !given.empty())
        throw command::WrongUse("--check cannot be combined with " + given);
    if (options.is_verbose && !options.log_level.empty())
        throw command::WrongUse("-v cannot be combined with --log-level");
    if (options.is_metrics_public && options.metrics.empty())
        throw command::WrongUse("--metrics-public requires --metrics");
    if (options.metrics.empty())
        return;
    const std::string wrong =
        daemon::metrics_address_error(options.metrics, options.is_metrics_public);
    if (!wrong.empty())
        throw command::WrongUse("--metrics: " + wrong);
}

void add_options(command::Arguments &arguments, ServerOptions &server, Options &options)
{
    arguments
        .add("--config", options.config,
             "mapi.conf to read; default: $MAPI_CONF, ./mapi.conf, /etc/mapi.conf")
        .kind("FILE")
        .check(command::is_given);
    server
        .add("--socket", options.socket,
             "socket at which clients reach mapid; default: $MAPI_SOCKET, ~/.mapid.sock if "
             "mapi.conf sets local=1, " +
                 ipc::standard_socket())
        .kind("PATH")
        .check(check_socket);
    server
        .add("--group", options.group,
             "group whose members may use devices without a group of their own")
        .kind("NAME")
        .show_default()
        .check(command::is_given);
    add_log(server, options);
    add_limits(server, options);
    server
        .add("--metrics", options.metrics,
             "serve counters for Prometheus at /metrics of this address")
        .kind("ADDRESS:PORT")
        .check(command::is_given);
    server.add_flag("--metrics-public", options.is_metrics_public,
                    "allow --metrics at an address that other machines can reach");
    server
        .add("--record", options.record,
             "record mapid's own probes from start to end, for nsdump; `mapi-info record` does the "
             "same at run time")
        .kind("FILE")
        .check(check_trace);
    arguments.add_flag("--check", options.is_check,
                       "read mapi.conf, print errors and warnings, list its devices and exit");
    arguments.version("mapid " NETSLICE_VERSION);
    arguments.footer("mapid stays in the foreground; see mapid(8) for systemd.\n"
                     "\n"
                     "Exit codes: 0 ended by a signal, or --check found no error; 1 failed to "
                     "start, --check found an error, or the trace\n"
                     "of --record is incomplete; 2 invalid usage");
}

// Adds what only prevents a mapid from starting, not a program from reading the file.
void find_start_errors(const std::string &path, std::vector<engine::ConfigNote> &notes)
{
    engine::ConfigNotes ignored(path), found(path);
    std::istringstream file = engine::open_config(path);
    const engine::ConfigSection top = engine::split_config(file, ignored).front();
    const engine::ConfigKey *log = top.find("logfile"), *group = top.find("socket_group");
    const std::string log_error = log ? daemon::log_file_error(log->value) : "";
    if (!log_error.empty())
        found.error(log->line, "logfile=" + log_error);
    if (group && !group->value.empty() && !engine::group_number(group->value))
        found.error(group->line,
                    "socket_group=" + group->value + ": no such group (create it, or use another)");
    for (engine::ConfigNote &note : found.take())
        notes.push_back(std::move(note));
}

// Checks all lines of mapi.conf.  `found`: what loading the plug-ins found.
int check(const engine::Registry &registry, std::vector<engine::ConfigNote> found)
{
    const std::string path = engine::find_config();
    if (path.empty())
        throw Error(MAPI_CONFIG_ERROR, "no mapi.conf found (use --config, set MAPI_CONF, or create "
                                       "it in this folder or in /etc)");
    std::istringstream file = engine::open_config(path);
    engine::Config config = engine::read_config(file, path, registry);
    find_start_errors(path, config.notes);
    found.insert(found.end(), config.notes.begin(), config.notes.end());
    std::stable_sort(found.begin(), found.end(),
                     [](const auto &one, const auto &other) { return one.line < other.line; });
    bool is_wrong = false;
    for (const engine::ConfigNote &note : found) {
        const bool is_error = note.is_error || note.loses_device;
        fmt::print(stderr, "mapid: {}{}\n", is_error ? "" : "warning: ", note.text);
        is_wrong |= is_error;
    }
    for (const engine::DeviceSettings &device : config.devices) {
        const bool is_known = registry.has_driver(device.driver);
        is_wrong |= !is_known;
        fmt::print("{:<24} {:<12} {}{}\n", device.name, device.driver, device.path,
                   is_known ? "" : "  (no such driver)");
    }
    return is_wrong ? 1 : 0;
}

// Signals are delivered to one thread only, which waits for them.
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

// A client's captures can take hundreds of descriptors.
void raise_file_limit(daemon::Limits &limits)
{
    rlimit limit = {};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    const rlimit highest = {limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &highest) == 0)
        limit = highest;
    limits.files = size_t(limit.rlim_cur) / daemon::kClientsThatFillFiles;
    limits.user_files = size_t(limit.rlim_cur) / daemon::kUsersThatFillFiles;
}

// The command line overrides mapi.conf, which is validated when it is read.
size_t memory_limit(size_t option_mib, const char *key, size_t standard_bytes)
{
    if (option_mib > 0)
        return option_mib << 20;
    const std::string configured = engine::find_config_value(key);
    return configured.empty() ? standard_bytes : size_t(std::stoull(configured)) << 20;
}

daemon::Limits limits_of(const Options &options)
{
    daemon::Limits limits = options.limits;
    raise_file_limit(limits);
    limits.memory_bytes = memory_limit(options.memory_mib, "max_memory", limits.memory_bytes);
    limits.function_bytes =
        memory_limit(options.function_memory_mib, "max_function_memory", limits.function_bytes);
    limits.user_bytes = memory_limit(options.user_memory_mib, "max_user_memory", limits.user_bytes);
    return limits;
}

daemon::SocketAccess configured_access()
{
    daemon::SocketAccess access;
    access.group = engine::find_config_value("socket_group");
    if (const std::string mode = engine::find_config_value("socket_mode"); !mode.empty())
        access.mode = engine::config_mode("socket_mode", mode);
    return access;
}

// The command line overrides mapi.conf.
std::string log_level(const Options &options)
{
    if (options.is_verbose)
        return "debug";
    if (!options.log_level.empty())
        return options.log_level;
    const std::string configured = daemon::configured_log_level();
    return configured.empty() ? "info" : configured;
}

std::string listed(const char *what, const std::vector<std::string> &names)
{
    return names.empty() ? "" : fmt::format("; {}: {}", what, fmt::join(names, ", "));
}

engine::ReloadedConfig read_config(engine::Devices &devices)
{
    engine::ReloadedConfig read = devices.reload();
    for (const std::string &warning : read.warnings)
        spdlog::warn("{}", warning);
    return read;
}

// Errors in the file are logged with their line, and nothing changes.
void reload(engine::Devices &devices, const Options &options)
{
    try {
        const engine::ReloadedConfig read = read_config(devices);
        spdlog::set_level(spdlog::level::from_str(log_level(options)));
        spdlog::info("reload: {}: {} devices{}{}{}", read.file.empty() ? "no mapi.conf" : read.file,
                     read.devices, listed("new", read.added),
                     listed("changed, for new flows", read.changed),
                     listed("removed", read.removed));
    } catch (const std::exception &error) {
        spdlog::error("reload: {}; configuration unchanged", error.what());
    }
}

// The default group need not exist; a misspelt one would silently exclude all users.
void check_group(const Options &options)
{
    if (options.is_group_named && !engine::group_number(options.group))
        spdlog::warn("--group: no such group \"{}\"; only root and the user of mapid may use "
                     "devices without a group of their own",
                     options.group);
}

void serve(const engine::Registry &registry, const Options &options, const sigset_t &signals)
{
    check_group(options);
    engine::Devices devices(registry, {1, true, false, nullptr, daemon::log_plan});
    read_config(devices);
    daemon::ClientRegistry clients;
    daemon::Pulse pulse;
    const daemon::Limits limits = limits_of(options);
    daemon::Users users(limits);
    daemon::Housekeeping housekeeping(devices);
    daemon::ClientLog log; // destroyed after the server, whose last lines it counts
    daemon::CostTurns cost_turns;
    daemon::Service service{registry,      devices, limits,       clients, pulse,
                            options.group, users,   housekeeping, log,     cost_turns};
    const std::string path =
        options.socket.empty() ? ipc::socket_path(engine::is_mapid_local()) : options.socket;
    ipc::Descriptor socket = daemon::inherited_socket();
    std::optional<daemon::Listener> own;
    if (!socket.is_open())
        socket = own.emplace(path, configured_access()).take();
    else if (!engine::find_config_value("socket_mode").empty() ||
             !engine::find_config_value("socket_group").empty())
        spdlog::warn("socket_mode and socket_group of mapi.conf have no effect: the socket belongs "
                     "to the service manager (SocketMode= and SocketGroup= of mapid.socket)");
    if (!own && !options.socket.empty())
        spdlog::warn("--socket has no effect: the socket belongs to the service manager");
    daemon::Server server(service, std::move(socket));
    std::unique_ptr<daemon::MetricsServer> metrics; // destroyed before what it reports on
    if (!options.metrics.empty())
        metrics = daemon::serve_metrics(options.metrics,
                                        [&] { return daemon::metrics_text(devices, clients); });
    std::thread waiter([&] {
        int number = 0;
        while (sigwait(&signals, &number) == 0 && number == SIGHUP)
            reload(devices, options);
        server.stop();
    });
    spdlog::info("listening at {}", own ? path : "the service manager's socket");
    daemon::tell_service_manager("READY=1");
    try {
        server.run();
    } catch (...) {
        // NOLINTNEXTLINE(bugprone-bad-signal-to-kill-thread): it is blocked, and sigwait() takes it
        pthread_kill(waiter.native_handle(), SIGTERM);
        waiter.join();
        throw;
    }
    waiter.join();
    daemon::tell_service_manager("STOPPING=1");
    spdlog::info("exiting");
}
} // namespace

int main(int argc, char **argv)
{
    daemon::keep_heap_small();
    Options options;
    command::Arguments arguments("Capture packets once for many programs that use libmapi.",
                                 "mapid");
    ServerOptions server(arguments);
    add_options(arguments, server, options);
    arguments.at_end([&] {
        combine(options, server);
        options.is_group_named = server.was_given("--group");
    });
    try {
        if (const auto reply = arguments.parse(argc, argv)) {
            reply->print();
            return reply->is_wrong ? 2 : 0;
        }
        if (!options.config.empty())
            setenv("MAPI_CONF", options.config.c_str(), 1);
        if (options.is_check) {
            std::vector<engine::ConfigNote> found;
            const engine::Registry registry(functions::catalog(), drivers::catalog(),
                                            engine::load_plugins(&found));
            return check(registry, std::move(found));
        }
        daemon::start_log(log_level(options), options.log_file.empty()
                                                  ? engine::find_config_value("logfile")
                                                  : options.log_file);
        const engine::Registry registry(functions::catalog(), drivers::catalog(),
                                        engine::load_plugins());
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
