// SPDX-License-Identifier: MIT
// Headers -> addresses, ports, protocol and version -> XXH3 (https://xxhash.com) as eBPF.
#include "drivers/xdp/code/hash_code.hpp"

#include <algorithm>
#include <cstring>

#include <netinet/in.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "drivers/xdp/code/code_writer.hpp"
#include "drivers/xdp/layout.hpp"

namespace mapi::drivers::xdp
{
namespace
{
// Offsets in the frame.
enum Frame : int16_t { kEthertype = 12, kIp = 14, kIpv4Transport = 34, kIpv6Transport = 54 };
constexpr int32_t kHeadBytes = kIpv6Transport + 20;
constexpr int32_t kArp = 0x0806, kIpv4 = 0x0800, kIpv6 = 0x86dd;
constexpr int32_t kUdpBytes = 8, kTcpBytes = 20;
// Of HASHSAMP's key: addresses of 16 bytes, ports, protocol, version.
enum Key : int16_t { kSource = 0, kDestination = 16, kPorts = 32, kProtocol = 36, kVersion = 37 };
constexpr uint64_t kKeyBytes = 38;
constexpr int32_t kParts = 1024;

uint64_t secret(size_t byte)
{
    uint64_t word;
    memcpy(&word, XXH3_kSecret + byte, sizeof(word));
    return word;
}

class Writer : private CodeWriter
{
public:
    using Label = CodeWriter::Label;

    Writer(uint32_t first_word, const ProgramSetup &setup, match::EbpfCode &code)
        : CodeWriter(setup.direction, code), first_word_(first_word), setup_(setup),
          undecided_(code.new_label()), hash_(code.new_label())
    {
    }

    void write(Label function);

private:
    static constexpr Register kCounts = Register::r6, kCaptured = Register::r7, kEnd = Register::r8,
                              kSum = Register::r9;

    int16_t word(uint32_t number) const { return CodeWriter::word(first_word_ + number); }
    int16_t head(int16_t byte) const { return int16_t(word(kHeadWords) + byte); }
    int16_t key(int16_t byte) const { return int16_t(word(kKeyWords) + byte); }
    void load_half(Register to, int16_t byte)
    {
        code_.load(2, to, kCounts, head(byte));
        code_.to_big_endian(to, 16);
    }
    void undecided_if(Condition condition, Register left, int32_t right)
    {
        code_.jump_if(k64, condition, left, right, undecided_);
    }
    void end_with(int32_t result)
    {
        code_.store_constant(8, kCounts, word(kFlowHash), result);
        leave(0);
    }
    void load_head();
    void read_ipv4();
    void read_ipv6();
    void check_transport(int16_t transport, Register protocol);
    void copy(int16_t to, int16_t from, int16_t bytes);
    void hash();
    void mix(int16_t key_byte, size_t secret_byte);

    const uint32_t first_word_;
    const ProgramSetup &setup_;
    const Label undecided_;
    const Label hash_;
};

void Writer::write(Label function)
{
    const Label ipv4 = code_.new_label(), ipv6 = code_.new_label(), none = code_.new_label();
    code_.begin_function(function);
    move(kCounts, Register::r2);
    load_head();
    for (uint32_t i = 0; i < kHeadWords - kKeyWords; ++i)
        code_.store_constant(8, kCounts, word(kKeyWords + i), 0);
    undecided_if(Condition::kLess, kCaptured, kIp);
    load_half(Register::r1, kEthertype);
    code_.jump_if(k64, Condition::kEqual, Register::r1, kIpv4, ipv4);
    code_.jump_if(k64, Condition::kEqual, Register::r1, kIpv6, ipv6);
    code_.jump_if(k64, Condition::kEqual, Register::r1, kArp, none);
    code_.jump(undecided_);
    code_.bind(none);
    end_with(kNoFlow);
    code_.bind(ipv4);
    read_ipv4();
    code_.bind(ipv6);
    read_ipv6();
    code_.bind(hash_);
    hash();
    code_.bind(undecided_);
    end_with(kNotDecided);
}

// Leaves the bytes that are captured in kCaptured, and the first of them in the map.
void Writer::load_head()
{
    move(Register::r9, Register::r1);
    emit_packet_length(direction_, code_);
    move(kCaptured, Register::r0);
    limit(kCaptured, int32_t(setup_.snaplen));
    move(Register::r4, kCaptured);
    limit(Register::r4, kHeadBytes);
    jump_if_zero(Register::r4, undecided_);
    move(Register::r1, Register::r9);
    set(Register::r2, 0);
    move(Register::r3, kCounts);
    add(Register::r3, head(0));
    code_.call(context_.load_bytes);
    undecided_if(Condition::kNotEqual, Register::r0, 0);
}

// Leaves the end of the datagram, if it is captured, in kEnd.
void Writer::read_ipv4()
{
    const Register protocol = Register::r1;
    const Label whole = code_.new_label();
    undecided_if(Condition::kLess, kCaptured, kIpv4Transport);
    code_.load(1, Register::r1, kCounts, head(kIp));
    undecided_if(Condition::kNotEqual, Register::r1, 0x45);
    load_half(Register::r1, kIp + 6);
    undecided_if(Condition::kAnyBit, Register::r1, 0x3fff); // a fragment
    load_half(kEnd, kIp + 2);
    undecided_if(Condition::kEqual, kEnd, 0);
    add(kEnd, kIp);
    code_.jump_if(k64, Condition::kLessOrEqual, kEnd, kCaptured, whole);
    move(kEnd, kCaptured);
    code_.bind(whole);
    code_.load(1, protocol, kCounts, head(kIp + 9));
    check_transport(kIpv4Transport, protocol);
    copy(kSource, kIp + 12, 4);
    copy(kDestination, kIp + 16, 4);
    copy(kPorts, kIpv4Transport, 4);
    code_.store_constant(1, kCounts, key(kVersion), 4);
    code_.jump(hash_);
}

void Writer::read_ipv6()
{
    const Register protocol = Register::r1;
    const Label whole = code_.new_label();
    undecided_if(Condition::kLess, kCaptured, kIpv6Transport);
    code_.load(1, Register::r1, kCounts, head(kIp));
    code_.alu(k64, Operation::kShiftRight, Register::r1, 4);
    undecided_if(Condition::kNotEqual, Register::r1, 6);
    load_half(kEnd, kIp + 4);
    undecided_if(Condition::kEqual, kEnd, 0);
    add(kEnd, kIpv6Transport);
    code_.jump_if(k64, Condition::kLessOrEqual, kEnd, kCaptured, whole);
    move(kEnd, kCaptured);
    code_.bind(whole);
    code_.load(1, protocol, kCounts, head(kIp + 6));
    check_transport(kIpv6Transport, protocol);
    copy(kSource, kIp + 8, 16);
    copy(kDestination, kIp + 24, 16);
    copy(kPorts, kIpv6Transport, 4);
    code_.store_constant(1, kCounts, key(kVersion), 6);
}

// The whole header is in the datagram, as headers::has_whole_transport() requires.
void Writer::check_transport(int16_t transport, Register protocol)
{
    const Label tcp = code_.new_label(), udp = code_.new_label(), checked = code_.new_label();
    code_.store(1, kCounts, key(kProtocol), protocol);
    code_.alu(k64, Operation::kSub, kEnd, transport);
    code_.jump_if(k64, Condition::kEqual, protocol, IPPROTO_TCP, tcp);
    code_.jump_if(k64, Condition::kEqual, protocol, IPPROTO_UDP, udp);
    code_.jump(undecided_);
    code_.bind(tcp);
    code_.jump_if(k64, Condition::kGreater, kEnd, 65535, undecided_); // below zero
    undecided_if(Condition::kLess, kEnd, kTcpBytes);
    code_.load(1, Register::r1, kCounts, head(int16_t(transport + 12)));
    code_.alu(k64, Operation::kShiftRight, Register::r1, 4);
    code_.alu(k64, Operation::kShiftLeft, Register::r1, 2);
    undecided_if(Condition::kLess, Register::r1, kTcpBytes);
    code_.jump_if(k64, Condition::kGreater, Register::r1, kEnd, undecided_);
    code_.jump(checked);
    code_.bind(udp);
    code_.jump_if(k64, Condition::kGreater, kEnd, 65535, undecided_);
    undecided_if(Condition::kLess, kEnd, kUdpBytes);
    code_.bind(checked);
}

void Writer::copy(int16_t to, int16_t from, int16_t bytes)
{
    for (int16_t at = 0; at < bytes; at = int16_t(at + 4)) {
        code_.load(4, Register::r1, kCounts, head(int16_t(from + at)));
        code_.store(4, kCounts, key(int16_t(to + at)), Register::r1);
    }
}

// XXH3_len_17to128_64b() for the length of the key, seed 0.
void Writer::hash()
{
    code_.constant(kSum, kKeyBytes * XXH_PRIME64_1);
    mix(16, 32);
    mix(int16_t(kKeyBytes - 32), 48);
    mix(0, 0);
    mix(int16_t(kKeyBytes - 16), 16);
    const auto fold = [&](int32_t bits) {
        move(Register::r1, kSum);
        code_.alu(k64, Operation::kShiftRight, Register::r1, bits);
        code_.alu(k64, Operation::kXor, kSum, Register::r1);
    };
    fold(37);
    code_.constant(Register::r1, 0x165667919e3779f9); // as XXH3_avalanche()
    code_.alu(k64, Operation::kMul, kSum, Register::r1);
    fold(32);
    code_.alu(k64, Operation::kAnd, kSum, kParts - 1);
    add(kSum, 1);
    code_.store(8, kCounts, word(kFlowHash), kSum);
    leave(0);
}

// sum += the halves of the product of 128 bits, xor each other; XXH3_mix16B().
void Writer::mix(int16_t key_byte, size_t secret_byte)
{
    const Register a = Register::r0, b = Register::r1, low = Register::r2, cross = Register::r3,
                   high = Register::r4, half = Register::r5;
    const auto upper_half = [&](Register to, Register of) {
        move(to, of);
        code_.alu(k64, Operation::kShiftRight, to, 32);
    };
    const auto lower_half = [&](Register to, Register of) {
        code_.alu(k32, Operation::kMove, to, of);
    };
    code_.load(8, a, kCounts, key(key_byte));
    code_.constant(half, secret(secret_byte));
    code_.alu(k64, Operation::kXor, a, half);
    code_.load(8, b, kCounts, key(int16_t(key_byte + 8)));
    code_.constant(half, secret(secret_byte + 8));
    code_.alu(k64, Operation::kXor, b, half);

    lower_half(low, a); // low: a0 b0
    lower_half(half, b);
    code_.alu(k64, Operation::kMul, low, half);
    upper_half(high, a); // high: a1 b0
    code_.alu(k64, Operation::kMul, high, half);
    lower_half(cross, a); // cross: a0 b1
    upper_half(half, b);
    code_.alu(k64, Operation::kMul, cross, half);
    upper_half(b, a); // b: a1 b1
    code_.alu(k64, Operation::kMul, b, half);

    upper_half(half, low);
    add(cross, half);
    lower_half(half, high);
    add(cross, half); // at most 2^64 - 1
    upper_half(half, high);
    add(b, half);
    upper_half(half, cross);
    add(b, half); // the product's upper half
    code_.alu(k64, Operation::kShiftLeft, cross, 32);
    lower_half(half, low);
    code_.alu(k64, Operation::kOr, cross, half); // and its lower half
    code_.alu(k64, Operation::kXor, b, cross);
    add(kSum, b);
}
} // namespace

void emit_flow_hash(uint32_t first_word, const ProgramSetup &setup, match::EbpfCode &code,
                    match::EbpfCode::Label function)
{
    Writer(first_word, setup, code).write(function);
}
} // namespace mapi::drivers::xdp
