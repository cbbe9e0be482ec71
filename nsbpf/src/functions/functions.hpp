// SPDX-License-Identifier: MIT
// Functions: functions of a program -> uprobes on their entries and returns; sites of the trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct bpf_link;
struct bpf_program;

namespace nsbpf
{
struct Function;

// Cookies of the two uprobes of a function.
struct FunctionBits {
    uint64_t start, stop;
};
// Of the function with this index in the request.
FunctionBits bits_of_function(size_t index);

// Sites, one behind the other, as in a chunk.
std::string function_sites(const std::vector<Function> &functions);

// Whether one link can have the uprobes of many functions of a file, as since Linux 6.10.  Else
// each is an event of perf.
bool has_multi_uprobes();
// Before the programs are loaded.
void prepare_function_program(bpf_program *program);

class FunctionLinks
{
public:
    struct Failure {
        size_t index;
        int number; // errno
    };
    FunctionLinks(bpf_program *entry, bpf_program *at_return) : entry_(entry), return_(at_return) {}
    ~FunctionLinks() { detach(); }
    FunctionLinks(const FunctionLinks &) = delete;
    FunctionLinks &operator=(const FunctionLinks &) = delete;

    // Only for threads of this process.  Returns what could not be attached.
    std::vector<Failure> attach(const std::vector<Function> &functions, uint32_t pid);
    void detach();

private:
    void attach_span(const std::vector<Function> &functions, const std::vector<size_t> &span,
                     uint32_t pid, std::vector<Failure> &failures);
    int attach_both(const std::vector<Function> &functions, const std::vector<size_t> &span,
                    uint32_t pid);
    int attach_multi(const std::vector<Function> &functions, const std::vector<size_t> &span,
                     uint32_t pid, bool is_return);
    int attach_perf(const Function &function, size_t index, uint32_t pid, bool is_return);

    bpf_program *entry_, *return_;
    std::vector<bpf_link *> links_; // of perf events
    std::vector<int> multi_links_;  // descriptors
};
} // namespace nsbpf
