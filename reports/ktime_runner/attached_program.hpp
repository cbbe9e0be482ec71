// SPDX-License-Identifier: MIT
// A variant of ktime.bpf.c -> loaded, attached to an interface, and its times.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "reports/ktime_runner/ktime_event.h"

struct ktime; // the skeleton
struct bpf_link;

namespace ktime_runner
{
// A message for the user, without the program's name.
class Refusal : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// The kernel's run statistics of one program.
struct RunStatistics {
    uint64_t time_ns, runs;
};

class LoadedProgram
{
public:
    // Loads this variant only, and only its map.  Throws Refusal.
    explicit LoadedProgram(const std::string &variant);
    LoadedProgram(const LoadedProgram &) = delete;
    LoadedProgram &operator=(const LoadedProgram &) = delete;
    ~LoadedProgram();

    RunStatistics statistics() const;
    bool has_event() const { return has_event_; } // that the program writes
    ktime_event event() const;
    ktime_pauses pauses() const;
    // BPF_PROG_TEST_RUN, once, in which the statistics count too.
    void test_run(const void *packet, uint32_t bytes) const;
    int descriptor() const { return descriptor_; }

private:
    ktime *skeleton_;
    int descriptor_ = -1;
    bool has_event_;
};

// A link, which ends with the process, whatever ends it.
class Attachment
{
public:
    // Refuses an interface with another XDP program.
    Attachment(const LoadedProgram &program, const std::string &interface);
    Attachment(const Attachment &) = delete;
    Attachment &operator=(const Attachment &) = delete;
    ~Attachment();

    const char *mode() const { return is_native_ ? "native" : "generic"; }

private:
    int link_ = -1;
    bool is_native_ = true;
};
} // namespace ktime_runner
