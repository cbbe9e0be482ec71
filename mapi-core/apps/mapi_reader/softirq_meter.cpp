// SPDX-License-Identifier: MIT
// softirq_meter: BPF programs at the tracepoints of softirqs.
#include "mapi_reader/softirq_meter.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <unistd.h>

namespace mapi_reader
{
namespace
{
constexpr int kNetRx = 3; // NET_RX_SOFTIRQ
constexpr int kKey = -4;  // of the stack

struct Times {
    uint64_t begin_ns, sum_ns;
};

constexpr bpf_insn instruction(int code, int to, int from, int offset, int value)
{
    bpf_insn one = {};
    one.code = uint8_t(code);
    one.dst_reg = uint8_t(to & 15);
    one.src_reg = uint8_t(from & 15);
    one.off = int16_t(offset);
    one.imm = value;
    return one;
}

constexpr int kLoad = BPF_LDX | BPF_DW | BPF_MEM, kStore = BPF_STX | BPF_DW | BPF_MEM;
constexpr int kCall = BPF_JMP | BPF_CALL, kExit = BPF_JMP | BPF_EXIT;
constexpr int kLoadImmediate = BPF_LD | BPF_DW; // BPF_IMM is 0
constexpr int kAddConstant = BPF_ALU64;         // BPF_ADD and BPF_K are 0
constexpr int kMove = BPF_ALU64 | BPF_MOV;

// Ends the program unless the softirq is NET_RX; then r7 is the time and r0 this CPU's Times.
std::vector<bpf_insn> head(int map)
{
    std::vector<bpf_insn> code = {
        instruction(kLoad, 6, 1, 0, 0), // the tracepoint's argument
        instruction(BPF_JMP | BPF_JEQ | BPF_K, 6, 0, 2, kNetRx),
        instruction(kMove | BPF_K, 0, 0, 0, 0),
        instruction(kExit, 0, 0, 0, 0),
        instruction(kCall, 0, 0, 0, BPF_FUNC_ktime_get_ns),
        instruction(kMove | BPF_X, 7, 0, 0, 0),
        instruction(BPF_ST | BPF_W | BPF_MEM, 10, 0, kKey, 0),
        instruction(kLoadImmediate, 1, BPF_PSEUDO_MAP_FD, 0, map),
        instruction(0, 0, 0, 0, 0),
        instruction(kMove | BPF_X, 2, 10, 0, 0),
        instruction(kAddConstant, 2, 0, 0, kKey),
        instruction(kCall, 0, 0, 0, BPF_FUNC_map_lookup_elem),
        instruction(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 1, 0),
        instruction(kExit, 0, 0, 0, 0),
    };
    return code;
}

std::vector<bpf_insn> at_entry(int map)
{
    std::vector<bpf_insn> code = head(map);
    for (const bpf_insn &one :
         std::array{instruction(kStore, 0, 7, offsetof(Times, begin_ns), 0),
                    instruction(kMove | BPF_K, 0, 0, 0, 0), instruction(kExit, 0, 0, 0, 0)})
        code.push_back(one);
    return code;
}

// Nothing is added for a softirq that had begun before the programs.
std::vector<bpf_insn> at_exit(int map)
{
    std::vector<bpf_insn> code = head(map);
    for (const bpf_insn &one : std::array{
             instruction(kLoad, 1, 0, offsetof(Times, begin_ns), 0),
             instruction(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 4, 0),
             instruction(BPF_ALU64 | BPF_SUB | BPF_X, 7, 1, 0, 0),
             instruction(kLoad, 2, 0, offsetof(Times, sum_ns), 0),
             instruction(BPF_ALU64 | BPF_ADD | BPF_X, 2, 7, 0, 0),
             instruction(kStore, 0, 2, offsetof(Times, sum_ns), 0),
             instruction(kMove | BPF_K, 0, 0, 0, 0),
             instruction(kExit, 0, 0, 0, 0),
         })
        code.push_back(one);
    return code;
}

int checked(int descriptor, const char *object)
{
    if (descriptor < 0)
        throw std::runtime_error(std::string(object) + ": " + std::strerror(errno));
    return descriptor;
}
} // namespace

struct SoftirqMeter::Programs {
    Programs()
    {
        add(checked(bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "softirq_times", sizeof(uint32_t),
                                   sizeof(Times), 1, nullptr),
                    "BPF map"));
        attach("softirq_entry", at_entry(map()));
        attach("softirq_exit", at_exit(map()));
    }
    ~Programs()
    {
        while (!descriptors_.empty()) {
            close(descriptors_.back());
            descriptors_.pop_back();
        }
    }
    Programs(const Programs &) = delete;
    Programs &operator=(const Programs &) = delete;

    int map() const { return descriptors_.front(); }

private:
    int add(int descriptor)
    {
        descriptors_.push_back(descriptor);
        return descriptor;
    }
    void attach(const char *tracepoint, const std::vector<bpf_insn> &code)
    {
        const int program =
            add(checked(bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, tracepoint, "Dual MIT/GPL",
                                      code.data(), code.size(), nullptr),
                        "BPF program"));
        add(checked(bpf_raw_tracepoint_open(tracepoint, program), tracepoint));
    }

    // If the constructor throws, they stay open until the process ends.
    std::vector<int> descriptors_;
};

SoftirqMeter::SoftirqMeter()
{
    try {
        programs_ = std::make_unique<Programs>();
    } catch (const std::runtime_error &error) {
        why_not_ = error.what();
    }
}

SoftirqMeter::~SoftirqMeter() = default;

std::vector<uint64_t> SoftirqMeter::read_ns() const
{
    const int cpus = libbpf_num_possible_cpus();
    if (!programs_ || cpus < 1)
        return {};
    std::vector<Times> times(size_t(cpus), Times{});
    const uint32_t key = 0;
    if (bpf_map_lookup_elem(programs_->map(), &key, times.data()) != 0)
        return {};
    std::vector<uint64_t> sums;
    for (const Times &one : times)
        sums.push_back(one.sum_ns);
    return sums;
}
} // namespace mapi_reader
