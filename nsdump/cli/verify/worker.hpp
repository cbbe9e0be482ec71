// SPDX-License-Identifier: MIT
// verify: the process that runs known slices under a session of its own, and its disturbance.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <nsprobe/session.h>

namespace nsdump::verify
{
enum class Disturbance {
    kNone,
    kMigration,  // another thread moves the worker from CPU to CPU
    kPreemption, // another thread competes for the worker's only CPU
};

struct Work {
    nsp_counter_source source = NSP_SOURCE_RDPMC;
    std::vector<unsigned> cpus; // that the worker may use
    Disturbance disturbance = Disturbance::kNone;
    unsigned workers = 1; // that run at the same time
    int longest = 0;      // slice, in instructions
    unsigned rounds = 0;  // at most
    double seconds = 0;   // at most
    uint64_t counter_period = 0;
};

// What a worker leaves for its parent, in shared memory.
struct WorkerReport {
    char refusal[512]; // why it has no session; empty: it has one
    uint64_t rounds;
    uint64_t preemptions;
    uint64_t interrupts; // see Disturbances
    uint64_t lost;       // records
    bool is_complete;
};

constexpr unsigned kMaxWorkers = 2;

struct SharedReports {
    std::atomic<unsigned> ready; // workers that have a session, or none
    WorkerReport of[kMaxWorkers];
};

// Runs in a process of its own.  `file`: an empty file for the trace.
void run_worker(const Work &work, int file, SharedReports &shared, unsigned number);
} // namespace nsdump::verify
