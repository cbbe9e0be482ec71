// SPDX-License-Identifier: MIT
// Machine code -> executable memory, which is written first and then locked.
#include "bpf_native.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "bpf_emit.hpp"

#ifdef NETSLICE_REPLACE_ASMJIT_DEBUG_UTILS
// The same names as the object in the archive that refers to stderr without position independence,
// so that the linker uses these and leaves that object out.
ASMJIT_BEGIN_NAMESPACE
namespace DebugUtils
{
const char *errorAsString(Error) noexcept
{
    return "asmjit error";
}

void debugOutput(const char *text) noexcept
{
    std::fputs(text, stderr);
}

void assertionFailed(const char *file, int line, const char *text) noexcept
{
    std::fprintf(stderr, "%s:%d: asmjit: %s\n", file, line, text);
    std::abort();
}
} // namespace DebugUtils
ASMJIT_END_NAMESPACE
#endif

namespace mapi::match
{
namespace
{
// Remembers an error; the assembler itself continues.
class Failure : public asmjit::ErrorHandler
{
public:
    void handleError(asmjit::Error, const char *, asmjit::BaseEmitter *) override
    {
        happened_ = true;
    }
    bool happened() const noexcept { return happened_; }

private:
    bool happened_ = false;
};

size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

// Larger offsets include libpcap's extensions (VLAN tag, protocol), which are negative offsets;
// this also fits x86 displacements.
constexpr uint32_t kLargestOffset = 0x7fffffff - 4;

// False if the program contains something that only the interpreter supports.
bool can_emit(BpfSteps steps)
{
    for (const bpf_insn &step : steps) {
        if ((is_packet_load(step.code) || is_header_length_load(step.code)) &&
            step.k > kLargestOffset)
            return false;
        // The result of such a shift is undefined in C; leave it to the interpreter.
        if ((step.code == (BPF_ALU | BPF_LSH | BPF_K) ||
             step.code == (BPF_ALU | BPF_RSH | BPF_K)) &&
            step.k >= 32)
            return false;
    }
    return true;
}

// Each filter has pages of its own.  If each started at the beginning of a page, all of them would
// compete for the same few sets of the instruction cache.
size_t next_start_bytes(size_t page_bytes)
{
    constexpr size_t kStepBytes = 448; // a typical filter
    static std::atomic<size_t> filters{0};
    return filters.fetch_add(1, std::memory_order_relaxed) * kStepBytes % page_bytes;
}
} // namespace

std::unique_ptr<NativeFilter> NativeFilter::make(std::span<const bpf_insn> program)
{
    if (program.empty() || !can_emit(program))
        return nullptr;
    asmjit::CodeHolder code;
    Failure failure;
    if (code.init(asmjit::Environment::host()) != asmjit::kErrorOk)
        return nullptr;
    code.setErrorHandler(&failure);
    emit_filter(program, code);
    if (failure.happened() || code.flatten() != asmjit::kErrorOk ||
        code.resolveUnresolvedLinks() != asmjit::kErrorOk)
        return nullptr;

    const auto page_bytes = size_t(sysconf(_SC_PAGESIZE));
    const size_t start_bytes = next_start_bytes(page_bytes);
    const size_t memory_bytes = round_up(start_bytes + code.codeSize(), page_bytes);
    void *memory =
        mmap(nullptr, memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return nullptr;
    uint8_t *start = static_cast<uint8_t *>(memory) + start_bytes;
    std::unique_ptr<NativeFilter> filter(
        new (std::nothrow) NativeFilter(memory, memory_bytes, reinterpret_cast<Run>(start)));
    if (!filter) {
        munmap(memory, memory_bytes);
        return nullptr;
    }
    if (code.relocateToBase(reinterpret_cast<uint64_t>(start)) != asmjit::kErrorOk ||
        code.copyFlattenedData(start, memory_bytes - start_bytes) != asmjit::kErrorOk)
        return nullptr;
    __builtin___clear_cache(reinterpret_cast<char *>(start),
                            reinterpret_cast<char *>(start + code.codeSize()));
    if (mprotect(memory, memory_bytes, PROT_READ | PROT_EXEC) != 0)
        return nullptr;
    return filter;
}

NativeFilter::~NativeFilter()
{
    munmap(memory_, memory_bytes_);
}
} // namespace mapi::match
