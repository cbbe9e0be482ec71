// SPDX-License-Identifier: MIT
// A libpcap filter, compiled once: packet views -> which of them match.
#pragma once

#include <pcap/pcap.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mapi/packet.h>

namespace mapi::match
{
class NativeFilter;

// Thread-safe: nothing changes after compile().
class BpfProgram
{
public:
    enum class Engine {
        kBest,        // machine code if this processor and program allow it
        kInterpreter, // libpcap's own
    };

    // link_type is a LINKTYPE_ or a DLT_ number; snaplen_bytes <= 0 means no limit.  Throws
    // FilterError with libpcap's message.
    static BpfProgram compile(const std::string &expression, int link_type, int snaplen_bytes,
                              Engine engine = Engine::kBest);
    // Takes compiled instructions; throws FilterError if libpcap would refuse to run them.
    static BpfProgram from_instructions(std::vector<bpf_insn> instructions,
                                        Engine engine = Engine::kBest);

    BpfProgram(BpfProgram &&) noexcept;
    BpfProgram &operator=(BpfProgram &&) noexcept;
    ~BpfProgram();

    bool matches(const uint8_t *data, uint32_t caplen, uint32_t wire_bytes) const noexcept;
    // Examines packets[i] if bit i of mask is set and returns the part of mask that matches.
    uint64_t filter(const mapi_packet *packets, uint64_t mask) const noexcept;

    bool is_native() const noexcept { return native_ != nullptr; }
    std::span<const bpf_insn> instructions() const noexcept { return instructions_; }

private:
    BpfProgram(std::vector<bpf_insn> instructions, Engine engine);

    std::vector<bpf_insn> instructions_;
    std::unique_ptr<NativeFilter> native_;
};
} // namespace mapi::match
