// SPDX-License-Identifier: MIT
// Maps and programs of the kernel's BPF, each owned by its descriptor: when the last one is closed,
// also by the end of the process, the kernel removes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "ipc/descriptor.hpp"
#include "match/bpf/native/ebpf_code.hpp"

namespace mapi::drivers::xdp
{
// The kernel refused something.  what(): the object and the cause in one line.
class KernelRefusal : public std::runtime_error
{
public:
    KernelRefusal(const std::string &message, int number)
        : std::runtime_error(message), number_(number)
    {
    }
    int number() const { return number_; } // as errno

private:
    int number_;
};

// CPUs that may ever run a program.  Throws KernelRefusal.
uint32_t count_cpus();

// Where a structure of this kernel has a member, in bytes.  Throws KernelRefusal.
int16_t member_offset(const char *structure, const char *member);

// An array map, which this process sees as memory: one value, or several of `bytes` each, which
// are a multiple of 8.  Zeroed.
class SharedArray
{
public:
    // Throws KernelRefusal.
    SharedArray(const char *name, size_t bytes, uint32_t values = 1);
    SharedArray(SharedArray &&other) noexcept;
    SharedArray &operator=(SharedArray &&) = delete;
    ~SharedArray();

    int descriptor() const { return object_.number(); }
    std::span<uint64_t> words() const { return {words_, bytes_ / sizeof(uint64_t)}; }

private:
    ipc::Descriptor object_;
    size_t bytes_;
    uint64_t *words_ = nullptr;
};

constexpr char kProgramName[] = "mapi"; // of all programs of this driver that are attached

// The code is finished.  Throws KernelRefusal with the verifier's cause.  takes_fragments: the
// program is for packets in several pieces, too.
ipc::Descriptor load_xdp_program(const char *name, const match::EbpfCode &code,
                                 bool takes_fragments);
// The same for outgoing packets, which may always have several pieces.
ipc::Descriptor load_egress_program(const char *name, const match::EbpfCode &code);

struct TestRun {
    uint32_t action = 0;
    uint32_t duration_ns = 0; // mean of all runs, with the kernel's own cost for each
};
// Runs the program on a packet of at least 14 bytes that is not sent.  Throws KernelRefusal.
TestRun test_run(int program, std::span<const uint8_t> packet, uint32_t runs = 1);
} // namespace mapi::drivers::xdp
