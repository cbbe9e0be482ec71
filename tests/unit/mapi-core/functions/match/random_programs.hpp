// SPDX-License-Identifier: MIT
// Random valid BPF programs and packets, and libpcap's verdict on them.
#pragma once

#include <pcap/pcap.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "guarded_packets.hpp"

namespace match_test
{
class ProgramMaker
{
public:
    explicit ProgramMaker(uint32_t seed) : random_(seed) {}

    std::vector<bpf_insn> make()
    {
        const uint32_t length = 2 + below(40);
        std::vector<bpf_insn> program;
        // In the interpreter, a scratch word is undefined before it is written: write all words
        // first.
        initialised_words_ = below(3) == 0 ? 1 + below(BPF_MEMWORDS) : 0;
        for (uint32_t word = 0; word < initialised_words_; ++word)
            program.push_back(plain(below(2) ? BPF_ST : BPF_STX, word));
        while (program.size() < length)
            program.push_back(step(length - 1 - std::min<uint32_t>(length - 1, program.size())));
        program.push_back(plain(below(3) ? BPF_RET | BPF_K : BPF_RET | BPF_A, below(2)));
        program.push_back(plain(BPF_RET | BPF_K, 0));
        program.push_back(plain(BPF_RET | BPF_K, 65535));
        return program;
    }

    uint32_t below(uint32_t limit)
    {
        return std::uniform_int_distribution<uint32_t>(0, limit - 1)(random_);
    }

private:
    static bpf_insn plain(int code, uint32_t k) { return {static_cast<u_short>(code), 0, 0, k}; }

    uint32_t offset()
    {
        switch (below(60)) {
        case 0: return 0xffffffff;
        case 1: return 0x7ffffff0 + below(16);
        case 2: return 0xfffff000 + 4 * below(16);
        case 3: return below(70000);
        default: return below(72);
        }
    }
    uint32_t value()
    {
        static const uint32_t interesting[] = {0,         1,          2,          3,
                                               0x100,     0x101,      0x201,      0x10000,
                                               0x1010101, 0x7fffffff, 0x80000000, 0xffffffff};
        return below(3) ? below(4) : interesting[below(std::size(interesting))];
    }
    bpf_insn load()
    {
        static const int codes[] = {BPF_LD | BPF_W | BPF_ABS,  BPF_LD | BPF_H | BPF_ABS,
                                    BPF_LD | BPF_B | BPF_ABS,  BPF_LD | BPF_W | BPF_IND,
                                    BPF_LD | BPF_H | BPF_IND,  BPF_LD | BPF_B | BPF_IND,
                                    BPF_LDX | BPF_MSH | BPF_B, BPF_LDX | BPF_MSH | BPF_B};
        return plain(codes[below(std::size(codes))], offset());
    }
    bpf_insn move()
    {
        switch (below(9)) {
        case 0: return plain(BPF_LD | BPF_IMM, value());
        case 1: return plain(BPF_LDX | BPF_IMM, below(4) ? below(60) : value());
        case 2: return plain(BPF_LD | BPF_W | BPF_LEN, 0);
        case 3: return plain(BPF_LDX | BPF_W | BPF_LEN, 0);
        case 4: return plain(BPF_MISC | BPF_TAX, 0);
        case 5: return plain(BPF_MISC | BPF_TXA, 0);
        case 6: return plain(below(2) ? BPF_ST : BPF_STX, below(BPF_MEMWORDS));
        default:
            return initialised_words_ == 0 ? load()
                                           : plain(below(2) ? BPF_LD | BPF_MEM : BPF_LDX | BPF_MEM,
                                                   below(initialised_words_));
        }
    }
    bpf_insn arithmetic()
    {
        static const int operations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_MOD, BPF_AND,
                                         BPF_OR,  BPF_XOR, BPF_LSH, BPF_RSH, BPF_AND, BPF_AND};
        if (below(15) == 0)
            return plain(BPF_ALU | BPF_NEG, 0);
        const int operation = operations[below(std::size(operations))];
        if (below(2))
            return plain(BPF_ALU | BPF_X | operation, 0);
        uint32_t constant = value();
        if (operation == BPF_DIV || operation == BPF_MOD)
            constant = std::max(constant, 1u);
        if (operation == BPF_LSH || operation == BPF_RSH)
            constant %= 32;
        return plain(BPF_ALU | BPF_K | operation, constant);
    }
    // Targets stay inside the program: `room` steps and the final returns follow.
    bpf_insn jump(uint32_t room)
    {
        static const int operations[] = {BPF_JEQ, BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
        const auto target = [&] { return static_cast<u_char>(below(room + 3)); };
        if (below(12) == 0)
            return plain(BPF_JMP | BPF_JA, target());
        bpf_insn step =
            plain(BPF_JMP | (below(4) ? BPF_K : BPF_X) | operations[below(std::size(operations))],
                  value());
        step.jt = target();
        step.jf = target();
        return step;
    }
    bpf_insn step(uint32_t room)
    {
        const uint32_t kind = below(20);
        if (kind < 7)
            return load();
        if (kind < 10)
            return move();
        if (kind < 14)
            return arithmetic();
        if (kind < 19)
            return jump(room);
        return below(4) ? load() : plain(below(2) ? BPF_RET | BPF_K : BPF_RET | BPF_A, below(2));
    }

    std::mt19937 random_;
    uint32_t initialised_words_ = 0;
};

inline void fill(GuardedPackets &packets, ProgramMaker &random)
{
    packets.clear();
    while (!packets.is_full()) {
        std::vector<uint8_t> bytes(random.below(8) ? random.below(100) : random.below(60000));
        const uint32_t values = random.below(2) ? 4 : 256; // few values, so that equality occurs
        for (uint8_t &byte : bytes)
            byte = uint8_t(random.below(values));
        packets.add(bytes, uint32_t(bytes.size()) + random.below(3));
    }
}

inline uint64_t interpret(const std::vector<bpf_insn> &program, const GuardedPackets &packets,
                          uint64_t mask)
{
    uint64_t matching = 0;
    for (size_t at = 0; at < packets.count(); ++at)
        if (mask >> at & 1 && bpf_filter(program.data(), packets[at].data, packets[at].wire_len,
                                         packets[at].caplen) != 0)
            matching |= uint64_t{1} << at;
    return matching;
}
} // namespace match_test
