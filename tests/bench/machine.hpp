// SPDX-License-Identifier: MIT
// What every benchmark needs from the machine: a pinned thread, a fenced clock, its rate.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include <sched.h>
#include <unistd.h>

#include <nsprobe/session.h>

#include "bare_reads.hpp"

namespace bench
{
inline double ticks_per_ns()
{
    const auto time = std::chrono::steady_clock::now();
    const uint64_t ticks = fenced_ticks();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const std::chrono::duration<double, std::nano> elapsed =
        std::chrono::steady_clock::now() - time;
    return double(fenced_ticks() - ticks) / elapsed.count();
}

// The last CPU that the process may use; drains and the rest of the system have the others.
inline void pin_to_last_cpu()
{
    cpu_set_t allowed, one;
    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu)
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof(one), &one);
            return;
        }
}

// Those of a session inherit the calling thread's CPU, on which they would interrupt what is
// measured.
inline void let_other_threads_run_anywhere()
{
    cpu_set_t all;
    std::memset(&all, 0xff, sizeof(all));
    for (const auto &task : std::filesystem::directory_iterator("/proc/self/task"))
        if (const int id = std::stoi(task.path().filename().string()); id != gettid())
            sched_setaffinity(id, sizeof(all), &all);
}

// A file on tmpfs, so that no disk is measured; removed with the object.
class TmpfsFile
{
public:
    explicit TmpfsFile(const std::string &name)
        : path_((std::filesystem::exists("/dev/shm") ? "/dev/shm/" : "/tmp/") + name)
    {
    }
    ~TmpfsFile() { std::remove(path_.c_str()); }
    TmpfsFile(const TmpfsFile &) = delete;
    TmpfsFile &operator=(const TmpfsFile &) = delete;
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

inline void open_session(const std::string &options)
{
    if (nsp_session_configure(options.c_str()) != 0) {
        std::fprintf(stderr, "%s\n", nsp_last_error());
        std::exit(77);
    }
}
} // namespace bench
