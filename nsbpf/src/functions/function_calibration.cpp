// SPDX-License-Identifier: MIT
// Function calibration: functions of this library with uprobes -> what these cost, on this CPU.
#include "function_calibration.hpp"

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <vector>

#include <nslice/file.h>
#include <unistd.h>

#include "batch_sums.hpp"
#include "functions.hpp"
#include "nsbpf/recorder.hpp"
#include "src/clock_line.hpp"
#include "src/mapped_ring.hpp"

// Empty functions, by the kind of their first instruction.  In memory of this program's file, which
// uprobes require.
#if defined(__x86_64__)
asm(R"(
    .pushsection .text
    .balign 64
nsbpf_calibrated_emulated:
    nop
    ret
    .balign 64
nsbpf_calibrated_stepped:
    xorl %eax, %eax
    ret
    .balign 64
nsbpf_calibrated_optimised:
    .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
    ret
    .balign 64
    .popsection
)");
#else
asm(R"(
    .pushsection .text
    .balign 64
nsbpf_calibrated_emulated:
    nop
    ret
    .balign 64
nsbpf_calibrated_stepped:
    mov x0, x0
    ret
    .balign 64
nsbpf_calibrated_optimised:
    nop
    ret
    .balign 64
    .popsection
)");
#endif
extern "C" {
void nsbpf_calibrated_emulated();
void nsbpf_calibrated_stepped();
void nsbpf_calibrated_optimised();
}

namespace nsbpf
{
namespace
{
constexpr int kBatches = 30, kWarmBatches = 3;
constexpr int kCalls = 16; // of a batch: their records fit into the smallest ring
constexpr size_t kCallWords = size_t{2} * NSLICE_HEAD_WORDS;

using Empty = void (*)();

constexpr std::array<Empty, kCalibratedFunctions> kFunctions = {
    nsbpf_calibrated_emulated, nsbpf_calibrated_stepped, nsbpf_calibrated_optimised};
static_assert(NSLICE_WAY_UPROBE_EMULATED == 1 && NSLICE_WAY_UPROBE_STEPPED == 2 &&
              NSLICE_WAY_UPROBE_OPTIMISED == 3);

struct FilePlace {
    std::string path;
    uint64_t offset = 0;
};

// Of a function of this process; an empty path if it is not in a file.
FilePlace place_of(Empty function)
{
    const auto address = reinterpret_cast<uintptr_t>(function);
    const std::unique_ptr<FILE, int (*)(FILE *)> maps(fopen("/proc/self/maps", "re"), fclose);
    char line[4096];
    while (maps && fgets(line, sizeof(line), maps.get())) {
        uint64_t begin, end, offset;
        int path = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &begin, &end,
                   &offset, &path) < 3 ||
            address < begin || address >= end || line[path] != '/')
            continue;
        std::string file(line + path);
        file.resize(file.find('\n') == std::string::npos ? file.size() : file.find('\n'));
        return {file, address - begin + offset};
    }
    return {};
}

double batch_ticks(Empty function)
{
    const uint64_t begin = read_ticks();
    for (int call = 0; call < kCalls; ++call)
        function();
    return double(read_ticks() - begin) / kCalls;
}

// Means of batches.
struct Costs {
    std::vector<double> inner_ns, outer_ticks;
};

void take_batch(const std::vector<uint64_t> &words, double ticks, Costs &costs)
{
    if (words.size() != size_t{kCalls} * kCallWords)
        return; // something was lost
    uint64_t inner_ns = 0;
    for (size_t at = 0; at < words.size(); at += kCallWords)
        inner_ns += words[at + NSLICE_HEAD_WORDS] - words[at];
    costs.inner_ns.push_back(double(inner_ns) / kCalls);
    costs.outer_ticks.push_back(ticks);
}

Costs measure_batches(MappedRing &ring, Empty function, double bare_ticks)
{
    Costs costs;
    for (int batch = 0; batch < kWarmBatches; ++batch)
        batch_ticks(function);
    ring.take_words();
    for (int batch = 0; batch < kBatches; ++batch) {
        const double ticks = batch_ticks(function) - bare_ticks;
        take_batch(ring.take_words(), ticks, costs);
    }
    return costs;
}
} // namespace

FunctionCalibration::FunctionCalibration(FunctionLinks &links) : links_(links)
{
    std::vector<Function> functions;
    for (int i = 0; i < kCalibratedFunctions; ++i) {
        for (int batch = 0; batch < kBatches; ++batch)
            bare_ticks_[i] += batch_ticks(kFunctions[i]) / kBatches;
        const FilePlace place = place_of(kFunctions[i]);
        functions.push_back({place.path, place.offset, "", "", uint8_t(i + 1)});
    }
    is_attached_ = links_.attach(functions, uint32_t(getpid())).empty();
}

FunctionCalibration::~FunctionCalibration()
{
    links_.detach();
}

void FunctionCalibration::measure(MappedRing &ring, uint32_t cpu, const ClockLine &clock,
                                  std::string &entries) const
{
    for (int i = 0; is_attached_ && i < kCalibratedFunctions; ++i) {
        const Costs costs = measure_batches(ring, kFunctions[i], bare_ticks_[i]);
        if (costs.inner_ns.size() > kBatches / 2)
            append_entry(entries, cpu, uint8_t(NSLICE_KIND_START | (i + 1) << NSLICE_WAY_SHIFT),
                         sum_up_ticks(costs.inner_ns, clock.ticks_per_ns()),
                         sum_up_ticks(costs.outer_ticks, 1));
    }
}
} // namespace nsbpf
