// SPDX-License-Identifier: MIT
// ftrace's trace_marker: a write() to a tracefs instance that only this program uses.
//
// tracefs is mounted in the program's own mount namespace.  The instance belongs to the kernel and
// would outlive the program, so it is removed at the end, on signals, and at the next start after a
// SIGKILL.
#include "rounds.hpp"

#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

namespace
{
constexpr char kTracefs[] = "/sys/kernel/tracing";
constexpr char kInstance[] = "/sys/kernel/tracing/instances/netslice_bench";
int marker = -1;

// Safe in a signal handler.
void remove_instance()
{
    if (marker >= 0)
        close(marker); // an open file keeps the instance busy
    rmdir(kInstance);
}

void on_signal(int signal)
{
    remove_instance();
    _exit(128 + signal);
}

[[noreturn]] void skip(const char *what)
{
    rival::skip(std::string(what) + ": " + std::strerror(errno));
}

void open_marker()
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        skip("cannot create a mount namespace");
    if (mount("tracefs", kTracefs, "tracefs", 0, nullptr) != 0)
        skip("cannot mount tracefs on /sys/kernel/tracing");
    rmdir(kInstance);
    if (mkdir(kInstance, 0700) != 0)
        skip(kInstance);
    std::atexit(remove_instance);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGABRT})
        std::signal(signal, on_signal);
    marker = open((std::string(kInstance) + "/trace_marker").c_str(), O_WRONLY | O_CLOEXEC);
    if (marker < 0)
        skip("trace_marker");
}

// The kernel's count of events in its ring; the rest was overwritten ("overrun") or dropped.
uint64_t entries_kept()
{
    uint64_t kept = 0;
    for (const auto &cpu :
         std::filesystem::directory_iterator(std::string(kInstance) + "/per_cpu")) {
        std::ifstream stats(cpu.path() / "stats");
        std::string key;
        uint64_t value = 0;
        if (stats >> key >> value && key == "entries:")
            kept += value;
    }
    return kept;
}
} // namespace

int main(int argc, char **argv)
{
    const rival::Plan plan = rival::plan_of(argc, argv);
    open_marker();
    const rival::Cost cost = rival::measure(plan, [] {
        if (write(marker, "event", 5) != 5)
            std::abort();
    });
    rival::print(
        {"rival_trace_marker_ns", "ftrace trace_marker", "its own cost; counts overwritten events",
         "an instance with defaults, read at the end: a full ring keeps the newest events"},
        cost, entries_kept());
    return 0;
}
