// SPDX-License-Identifier: MIT
// The record of a packet as eBPF.
#include "drivers/xdp/code/record_code.hpp"

#include <cstddef>

#include <linux/if_packet.h>

#include "drivers/xdp/code/code_writer.hpp"
#include "drivers/xdp/code/node_code.hpp"
#include "drivers/xdp/layout.hpp"

namespace mapi::drivers::xdp
{
namespace
{
// In the stack frame.
enum Slot : int16_t { kRecordBytes = -8, kTime = -16, kCpu = -24, kWireBytes = -32 };

class Writer : private CodeWriter
{
public:
    Writer(const ProgramTree &tree, const ProgramSetup &setup, match::EbpfCode &code)
        : CodeWriter(setup.direction, code), tree_(tree), setup_(setup),
          head_bytes_(uint32_t(sizeof(PacketRecord) + size_t{8} * tree.verdict_words()))
    {
    }

    void write(Label function)
    {
        code_.begin_function(function);
        move(kContext, Register::r1);
        move(kCounts, Register::r2);
        code_.store(8, kFrame, kCpu, Register::r3);
        code_.store(8, kFrame, kWireBytes, Register::r4);
        const Label none = code_.new_label();
        reserve(none);
        fill(none);
        code_.bind(none);
        leave(0);
    }

private:
    static constexpr Register kContext = Register::r6, kRing = Register::r7, kCaplen = Register::r8,
                              kCounts = Register::r9;

    static int16_t field(size_t offset) { return int16_t(size_t{8} * kRingHeadWords + offset); }
    void limit_caplen();
    void reserve(Label none);
    void fill(Label none);

    const ProgramTree &tree_;
    const ProgramSetup &setup_;
    const uint32_t head_bytes_;
};

// Leaves the position in the ring in r1.
void Writer::reserve(Label none)
{
    if (tree_.has_last())
        emit_packet_time(kCounts, word(tree_.time_word()), code_);
    else
        code_.call(Helper::kKtimeGetNs);
    code_.store(8, kFrame, kTime, Register::r0);
    code_.load(8, kCaplen, kFrame, kWireBytes);
    limit(kCaplen, int32_t(setup_.snaplen));
    if (!tree_.wants_whole())
        limit_caplen();
    jump_if_zero(kCaplen, none);

    code_.load(8, Register::r1, kFrame, kCpu);
    own_part(kRing, setup_.rings, setup_.ring.stride_bytes(), Register::r1,
             setup_.ring.first_byte(direction_));
    move(Register::r3, kCaplen);
    add(Register::r3, int32_t(head_bytes_ + 7));
    code_.alu(k64, Operation::kAnd, Register::r3, -8);
    code_.store(8, kFrame, kRecordBytes, Register::r3);
    code_.load(8, Register::r1, kRing, word(kWritten));
    code_.load(8, Register::r2, kRing, word(kTaken));
    add(Register::r3, Register::r1);
    code_.alu(k64, Operation::kSub, Register::r3, Register::r2);
    const Label has_room = code_.new_label();
    code_.jump_if(k64, Condition::kLessOrEqual, Register::r3, int32_t(setup_.ring.data_bytes),
                  has_room);
    grow(kRing, kRingFull);
    code_.jump(none);
    code_.bind(has_room);
}

// To what functions of the engine need.
void Writer::limit_caplen()
{
    const Label fits = code_.new_label();
    code_.load(8, Register::r1, kCounts, word(kWantedBytes));
    code_.jump_if(k64, Condition::kLessOrEqual, kCaplen, Register::r1, fits);
    move(kCaplen, Register::r1);
    code_.bind(fits);
}

void Writer::fill(Label none)
{
    const Register record = kCounts; // once the verdicts are copied
    code_.alu(k64, Operation::kAnd, Register::r1, int32_t(setup_.ring.data_bytes - 1));
    add(Register::r1, kRing);
    for (uint32_t i = 0; i < tree_.verdict_words(); ++i) {
        code_.load(8, Register::r2, kCounts, word(kVerdicts + i));
        code_.store(8, Register::r1, field(sizeof(PacketRecord) + size_t{8} * i), Register::r2);
    }
    move(record, Register::r1);
    code_.load(8, Register::r2, kFrame, kRecordBytes);
    code_.store(4, record, field(offsetof(PacketRecord, bytes)), Register::r2);
    code_.store(4, record, field(offsetof(PacketRecord, caplen)), kCaplen);
    if (direction_ == Direction::kOutgoing)
        code_.store_constant(2, record, field(offsetof(PacketRecord, packet_type)),
                             PACKET_OUTGOING);
    code_.load(8, Register::r2, kFrame, kTime);
    code_.store(8, record, field(offsetof(PacketRecord, time_ns)), Register::r2);
    code_.load(8, Register::r2, kFrame, kWireBytes);
    code_.store(4, record, field(offsetof(PacketRecord, wire_bytes)), Register::r2);
    code_.store_constant(4, record, field(offsetof(PacketRecord, program)), int32_t(setup_.number));
    move(Register::r1, kContext);
    set(Register::r2, 0);
    move(Register::r3, record);
    add(Register::r3, field(head_bytes_));
    move(Register::r4, kCaplen);
    code_.call(context_.load_bytes);
    const Label is_copied = code_.new_label();
    code_.jump_if(k64, Condition::kEqual, Register::r0, 0, is_copied);
    grow(kRing, kUnreadable);
    code_.jump(none);
    code_.bind(is_copied);
    code_.load(8, Register::r1, kFrame, kRecordBytes);
    code_.fetch_add(kRing, word(kWritten), Register::r1); // after all stores before it
}
} // namespace

void emit_record(const ProgramTree &tree, const ProgramSetup &setup, match::EbpfCode &code,
                 match::EbpfCode::Label function)
{
    Writer(tree, setup, code).write(function);
}
} // namespace mapi::drivers::xdp
