// SPDX-License-Identifier: MIT
// Fuzz target: BPF instructions and a packet -> machine code and libpcap's interpreter agree; a
// pattern of STR_SEARCH and a packet -> found where a simple search finds it. Input: which of the
// two, the size of the program or pattern, the program or pattern, the packet.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "match/bpf/bpf_program.hpp"
#include "match/errors.hpp"
#include "match/text/folded_text.hpp"
#include "match/text/pattern.hpp"
#include "match/text/string_matcher.hpp"

namespace
{
using namespace mapi::match;

// libpcap accepts such programs, since those of `protochain` loop; others may loop forever.
bool jumps_back(const bpf_insn &instruction)
{
    return instruction.code == (BPF_JMP | BPF_JA) && int32_t(instruction.k) < 0;
}

void check_filter(const uint8_t *code, size_t code_bytes, const mapi_packet &packet)
{
    if (code_bytes < sizeof(bpf_insn))
        return;
    // The interpreter's scratch memory is uninitialised; the accumulator is zero.
    std::vector<bpf_insn> instructions;
    for (uint32_t word = 0; word < BPF_MEMWORDS; ++word)
        instructions.push_back({BPF_ST, 0, 0, word});
    instructions.resize(BPF_MEMWORDS + code_bytes / sizeof(bpf_insn));
    memcpy(&instructions[BPF_MEMWORDS], code, code_bytes / sizeof(bpf_insn) * sizeof(bpf_insn));
    if (std::any_of(instructions.begin(), instructions.end(), jumps_back))
        return;
    try {
        const BpfProgram native = BpfProgram::from_instructions(instructions);
        const bool expected =
            bpf_filter(instructions.data(), packet.data, packet.wire_len, packet.caplen) != 0;
        if (native.matches(packet.data, packet.caplen, packet.wire_len) != expected ||
            (native.filter(&packet, 1) != 0) != expected)
            abort();
    } catch (const FilterError &) {
    }
}

void check_search(std::string_view pattern, int offset, int depth, LetterCase letter_case,
                  const mapi_packet &packet)
{
    try {
        const StringMatcher matcher(pattern, offset, depth, letter_case);
        std::string text(reinterpret_cast<const char *>(packet.data), packet.caplen);
        auto parsed = parse_pattern(pattern);
        if (letter_case == LetterCase::kIgnored) {
            fold(text);
            std::for_each(parsed.begin(), parsed.end(), fold);
        }
        const std::string_view bytes = text;
        const std::string_view window = bytes.substr(std::min<size_t>(size_t(offset), bytes.size()),
                                                     depth ? size_t(depth) : bytes.npos);
        const bool expected =
            std::any_of(parsed.begin(), parsed.end(),
                        [&](const std::string &one) { return window.find(one) != window.npos; });
        if (matcher.matches(packet.data, packet.caplen) != expected ||
            (matcher.filter(&packet, 1) != 0) != expected)
            abort();
    } catch (const PatternError &) {
    }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 5)
        return 0;
    const size_t first_bytes =
        std::min<size_t>(data[1], (size - 5) / (data[0] & 1 ? 8 : 1)) * (data[0] & 1 ? 8 : 1);
    const std::vector<uint8_t> first(data + 5, data + 5 + first_bytes),
        bytes(data + 5 + first_bytes, data + size); // exactly this length
    mapi_packet packet{};
    packet.data = bytes.data();
    packet.caplen = uint32_t(bytes.size());
    packet.wire_len = packet.caplen + data[2] % 4;
    packet.link_type = 1;
    if (data[0] & 1)
        check_filter(first.data(), first.size(), packet);
    else
        check_search({reinterpret_cast<const char *>(first.data()), first.size()}, data[3] % 32,
                     data[4] % 64, data[0] & 2 ? LetterCase::kIgnored : LetterCase::kExact, packet);
    return 0;
}
