// SPDX-License-Identifier: MIT
// Filter expression -> libpcap's instructions -> machine code, or the interpreter.
#include "bpf_program.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <utility>

#include "bpf_step.hpp"
#include "match/bpf/native/bpf_native.hpp"
#include "match/errors.hpp"

namespace mapi::match
{
namespace
{
constexpr int kUnlimitedSnaplenBytes = 262144; // as in tcpdump; 0 would compile into "reject all"

struct CaptureFileHeader {
    uint32_t magic;
    uint16_t version_major;
    uint16_t version_minor;
    uint32_t unused[2];
    uint32_t snaplen_bytes;
    uint32_t link_type;
};
static_assert(sizeof(CaptureFileHeader) == 24);

using Handle = std::unique_ptr<pcap_t, void (*)(pcap_t *)>;

// An empty capture file in memory.  libpcap compiles for a file differently than without a source:
// it accepts the address families of all systems, and it refuses what a file cannot answer
// ("inbound") instead of never matching.
Handle open_for_compiling(int link_type, int snaplen_bytes)
{
    if (link_type < 0 || link_type > 0xffff)
        throw FilterError("unknown link type " + std::to_string(link_type));
    CaptureFileHeader header{0xa1b2c3d4,
                             2,
                             4,
                             {0, 0},
                             uint32_t(snaplen_bytes > 0 ? snaplen_bytes : kUnlimitedSnaplenBytes),
                             uint32_t(link_type)};
    FILE *file = fmemopen(&header, sizeof(header), "rb");
    if (!file)
        throw FilterError("out of memory");
    char message[PCAP_ERRBUF_SIZE] = "";
    Handle handle(pcap_fopen_offline(file, message), pcap_close);
    if (!handle) {
        fclose(file);
        throw FilterError(message);
    }
    return handle;
}

// Frees what pcap_compile() allocated, on every exit path.
class CompiledCode
{
public:
    CompiledCode(const std::string &expression, int link_type, int snaplen_bytes)
    {
        const Handle handle = open_for_compiling(link_type, snaplen_bytes);
        if (pcap_compile(handle.get(), &code_, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
            throw FilterError(pcap_geterr(handle.get()));
    }
    ~CompiledCode() { pcap_freecode(&code_); }
    CompiledCode(const CompiledCode &) = delete;
    CompiledCode &operator=(const CompiledCode &) = delete;

    std::vector<bpf_insn> copy() const { return {code_.bf_insns, code_.bf_insns + code_.bf_len}; }

private:
    bpf_program code_{};
};
} // namespace

BpfProgram BpfProgram::compile(const std::string &expression, int link_type, int snaplen_bytes,
                               Engine engine)
{
    if (expression.find('\0') != std::string::npos)
        throw FilterError("the filter expression contains a null byte");
    return BpfProgram(CompiledCode(expression, link_type, snaplen_bytes).copy(), engine);
}

BpfProgram BpfProgram::from_instructions(std::vector<bpf_insn> instructions, Engine engine)
{
    return BpfProgram(std::move(instructions), engine);
}

BpfProgram::BpfProgram(std::vector<bpf_insn> instructions, Engine engine)
    : instructions_(std::move(instructions))
{
    if (!bpf_validate(instructions_.data(), int(instructions_.size())) ||
        !std::all_of(instructions_.begin(), instructions_.end(), is_known_step))
        throw FilterError("the filter program is not valid BPF");
    if (engine == Engine::kBest)
        native_ = NativeFilter::make(instructions_);
}

BpfProgram::BpfProgram(BpfProgram &&) noexcept = default;
BpfProgram &BpfProgram::operator=(BpfProgram &&) noexcept = default;
BpfProgram::~BpfProgram() = default;

bool BpfProgram::matches(const uint8_t *data, uint32_t caplen, uint32_t wire_bytes) const noexcept
{
    if (!native_)
        return bpf_filter(instructions_.data(), data, wire_bytes, caplen) != 0;
    mapi_packet packet{};
    packet.data = data;
    packet.caplen = caplen;
    packet.wire_len = wire_bytes;
    return native_->run(&packet, 1) != 0;
}

uint64_t BpfProgram::filter(const mapi_packet *packets, uint64_t mask) const noexcept
{
    if (native_)
        return native_->run(packets, mask);
    uint64_t matching = 0;
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const int index = std::countr_zero(rest);
        const mapi_packet &packet = packets[index];
        if (bpf_filter(instructions_.data(), packet.data, packet.wire_len, packet.caplen) != 0)
            matching |= uint64_t{1} << index;
    }
    return matching;
}
} // namespace mapi::match
