// SPDX-License-Identifier: MIT
// A recorder of the kernel by BPF: a request -> chunks of a trace, as /dev/nsmod gives them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <nslice/control.h>

namespace nsbpf
{
// number(): as errno; what(): the object, the cause and the remedy in one line.
class Refusal : public std::runtime_error
{
public:
    Refusal(const std::string &message, int number) : std::runtime_error(message), number_(number)
    {
    }
    int number() const { return number_; }

private:
    int number_;
};

// A function of a program, whose calls become slices.
struct Function {
    std::string path;    // of its ELF file, as this process can open it
    uint64_t offset = 0; // of its first instruction in the file
    std::string name;    // for the trace
    std::string file;    // for the trace
    uint8_t way = 0;     // NSLICE_WAY_UPROBE_*, by its first instruction
};

// Whose BPF programs the group "programs" has.
enum class Whose {
    kAnybody, // requires CAP_SYS_ADMIN
    kStarted, // anybody's, or without CAP_SYS_ADMIN those of the processes that this one starts
    kOwn,     // those that this process has open
};

struct Request {
    std::string groups;      // comma-separated names; "programs": probes of BPF programs
    uint64_t ring_bytes = 0; // of each CPU, a power of two; 0: 1 MiB
    uint32_t pid = 0;        // only records made while this process runs; 0: all
    uint32_t thread = 0;     // only records made while this thread runs; 0: all
    uint16_t port = 0;       // where packets are seen, only those from or to it; 0: all
    std::vector<nslice_kernel_counter> counters; // of START and STOP; none: clock only
    std::string slices; // rules for the slices and marks to record; "": all
    // Share of the time in which some probes of BPF programs that lie inside slices are off at
    // random; 0: never.
    uint32_t thin_permille = 0;
    Whose programs_of = Whose::kAnybody;
    std::string reason; // why this recorder was chosen, for the trace
    // Receives warnings, one line each, also from the recorder's thread.
    std::function<void(const std::string &)> tell = [](const std::string &) {};
    std::vector<Function> functions; // by uprobes; at most NSLICE_MOST_UPROBE_FUNCTIONS
    uint32_t functions_pid = 0;      // the process whose calls are recorded
    std::string functions_reason;    // why by this way, for the trace
};

// One point of a group, for lists.
struct Place {
    std::string group, group_says, tracepoint, kind, slice, says;
    bool is_here = false; // this kernel has the tracepoint
};
// Throws Refusal if the kernel has no BTF.
std::vector<Place> places();
// Probes of the BPF programs that are loaded (group "programs"); none without CAP_SYS_ADMIN.
std::vector<Place> program_places();

// Programs are attached from construction to end(); whatever ends the process also detaches them.
class Recorder
{
public:
    // Throws Refusal.
    explicit Recorder(const Request &request);
    ~Recorder();

    // Chunks are read here, until its end; owned by the recorder.
    int descriptor() const;
    // Detaches; the remaining chunks follow.  Does not wait.
    void end();
    // New rules from now on; without effect after the end.  Any thread.  Throws Refusal.
    void select(const std::string &rules);

private:
    class Session;
    std::unique_ptr<Session> session_;
};
} // namespace nsbpf
