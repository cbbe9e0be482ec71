// SPDX-License-Identifier: MIT
// Programs: groups -> programs on their tracepoints, and the map of the rings.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "counters/counter_events.hpp"
#include "functions/functions.hpp"

struct bpf_link;
struct bpf_program;
struct btf;
struct nsbpf_recorder;

namespace nsbpf
{
struct Point;
struct Request;

constexpr int kCalibrating = 4; // programs of the calibration that write one record each

// How often the kernel did not run a program because it would have interrupted itself.
struct Missed {
    std::string program; // its group and tracepoint
    uint64_t times;
};

class Programs
{
public:
    // Loads what the request needs; nothing is attached.  Throws Refusal.
    explicit Programs(const Request &request);
    ~Programs();
    Programs(const Programs &) = delete;
    Programs &operator=(const Programs &) = delete;

    // Throws Refusal; then nothing is attached.  All points are off until select().
    void attach_groups();
    // Nothing is recorded any more.
    void silence();
    // When it returns, no program of a group is running.
    void detach_groups();

    // The request's functions; off until set_functions().
    void attach_functions(const Request &request);
    void set_functions(bool are_on);
    const std::vector<std::string> &refused_functions() const { return refused_functions_; }
    // Turns functions on; null if none are requested.
    FunctionLinks *calibrated_functions();
    // Calls whose return the kernel would not have trapped: nested too deeply; calls that were left
    // by longjmp() have the thread's traps.
    uint64_t too_deep() const;
    uint64_t traps_left() const;

    class Calibrating
    {
    public:
        ~Calibrating();
        Calibrating(Calibrating &&) = default;
        // enum nsbpf_calibration
        void set_mode(uint32_t mode) const;

    private:
        friend Programs;
        explicit Calibrating(nsbpf_recorder *programs) : programs_(programs) {}
        nsbpf_recorder *programs_;
        std::vector<bpf_link *> links_;
    };
    // For calls of this thread.  Throws Refusal.
    Calibrating attach_calibration(uint32_t thread);

    // Which points write records.  Throws Refusal.
    void select(const std::string &rules);

    const CounterEvents &counters() const { return counters_; }
    // Opens the events of CPUs again that the programs could not read.
    void renew_counters();
    // Those that were not always run.  The kernel has the sum over the CPUs only.
    std::vector<Missed> missed() const;
    int rings() const;
    uint32_t cpus() const { return cpus_; }
    uint64_t ring_bytes() const { return ring_bytes_; }
    uint64_t stride_bytes() const;
    uint32_t groups() const { return groups_; }
    // The filters, in the initial pid namespace; 0: all.
    int process() const;
    int thread() const;
    const btf *kernel() const { return kernel_; }

private:
    void configure(const Request &request);
    void load();
    void choose_programs(bool with_functions);
    void attach(bpf_program *program, const char *tracepoint);
    void attach_at(uint32_t i);
    bool is_on(const Point &point, const std::string &rules) const;
    void set(uint32_t point, uint64_t bits);

    const uint32_t groups_;
    const uint32_t cpus_;
    const uint64_t ring_bytes_;
    CounterEvents counters_;
    btf *kernel_ = nullptr;
    nsbpf_recorder *programs_ = nullptr;
    std::vector<bpf_link *> links_;
    std::optional<FunctionLinks> functions_;
    std::vector<std::string> refused_functions_;
};
} // namespace nsbpf
