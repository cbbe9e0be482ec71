// SPDX-License-Identifier: MIT
// live_program: work -> eBPF: an XDP program that makes each frame and redirects it, and a program
// that counts what the driver took.
//
// The kernel uses the pages of frames again as they come back, and a receiver may have
// changed them.  Hence each run writes the whole header, or the whole packet of a capture.  Without
// clang on the user's machine, and with constants that are known only now, the code is emitted
// here.
#include "live_program.hpp"

#include <algorithm>
#include <utility>

#include <linux/bpf.h>

namespace mapi_gen
{
namespace
{
using mapi::match::EbpfCode;
using mapi::match::EbpfHelper;
using Register = mapi::match::EbpfRegister;
using Operation = mapi::match::EbpfOperation;
using Condition = mapi::match::EbpfCondition;
using Label = EbpfCode::Label;
constexpr auto k64 = mapi::match::EbpfWidth::k64;
constexpr auto k32 = mapi::match::EbpfWidth::k32;

constexpr Register r0 = Register::r0, r1 = Register::r1, r2 = Register::r2, r3 = Register::r3,
                   r4 = Register::r4, r5 = Register::r5;
constexpr Register kContext = Register::r6, kState = Register::r7; // helpers keep r6 to r9
constexpr Register kSlot = Register::r8;                           // of the packet of a capture
constexpr Register kNow = Register::r9;

constexpr int32_t kLoopbackIndex = 1; // in every network namespace; where live frames come from

int16_t at(uint32_t word)
{
    return int16_t(8 * word);
}

class Writer
{
public:
    Writer(const LiveSetup &setup, EbpfCode &code)
        : setup_(setup), packets_(setup.work.packets), code_(code), drop_(code.new_label())
    {
    }

    void write()
    {
        move(kContext, r1);
        code_.map_value(kState, setup_.state, 0);
        load(r1, kAsked);
        load(r2, kLimit);
        code_.jump_if(k64, Condition::kGreaterOrEqual, r1, r2, drop_);
        if (setup_.is_paced)
            wait_until_due();
        else
            note_start();
        choose_variant();
        if (setup_.is_paced)
            advance_schedule();
        if (packets_.is_generated)
            write_header();
        else
            write_packet();
        count();
        redirect();
        code_.bind(drop_);
        code_.alu(k64, Operation::kMove, r0, XDP_DROP);
        code_.exit();
    }

private:
    void move(Register to, Register from) { code_.alu(k64, Operation::kMove, to, from); }
    void load(Register to, uint32_t word) { code_.load(8, to, kState, at(word)); }
    void store(uint32_t word, Register from) { code_.store(8, kState, at(word), from); }
    void call(int helper) { code_.call(static_cast<EbpfHelper>(helper)); }

    // To the later of kNext and kSoonest; until then frames are dropped, which takes 60 ns each.
    void wait_until_due()
    {
        call(BPF_FUNC_ktime_get_ns);
        move(kNow, r0);
        load(r1, kStart);
        code_.jump_if(k64, Condition::kGreater, r1, kNow, drop_);
        code_.alu(k64, Operation::kSub, kNow, r1);
        code_.alu(k64, Operation::kShiftLeft, kNow, int32_t(kTickShift));
        for (const StateWord word : {kNext, kSoonest}) {
            load(r1, word);
            code_.jump_if(k64, Condition::kGreater, r1, kNow, drop_);
        }
    }

    void note_start()
    {
        const Label is_noted = code_.new_label();
        load(r1, kStart);
        code_.jump_if(k64, Condition::kNotEqual, r1, 0, is_noted);
        call(BPF_FUNC_ktime_get_ns);
        store(kStart, r0);
        code_.bind(is_noted);
    }

    // r1, or kSlot of a capture: the packet.
    void choose_variant()
    {
        const auto variants = int32_t(packets_.variants());
        const Label is_inside = code_.new_label(), is_next_inside = code_.new_label();
        load(r1, kVariant);
        code_.jump_if(k64, Condition::kLess, r1, variants, is_inside); // for the verifier
        code_.alu(k64, Operation::kMove, r1, 0);
        code_.bind(is_inside);
        move(r2, r1);
        code_.alu(k64, Operation::kAdd, r2, int32_t(setup_.work.step % uint64_t(variants)));
        code_.jump_if(k64, Condition::kLess, r2, variants, is_next_inside);
        code_.alu(k64, Operation::kSub, r2, variants);
        code_.bind(is_next_inside);
        store(kVariant, r2);
        if (packets_.is_generated)
            return;
        code_.map_value(kSlot, setup_.packets, 0);
        code_.alu(k64, Operation::kMul, r1, int32_t(slot_bytes(packets_.longest())));
        code_.alu(k64, Operation::kAdd, kSlot, r1);
    }

    // The same as Pace::take().  Keeps r1.
    void advance_schedule()
    {
        const Label is_kept = code_.new_label(), is_early = code_.new_label(),
                    is_soonest = code_.new_label();
        load(r3, kNext);
        wide_less(kGiveUp, is_kept); // r2: the schedule before this is given up
        code_.jump_if(k64, Condition::kGreaterOrEqual, r3, r2, is_kept);
        move(r4, r2);
        code_.alu(k64, Operation::kSub, r4, r3);
        load(r5, kGivenUp);
        code_.alu(k64, Operation::kAdd, r5, r4);
        store(kGivenUp, r5);
        move(r3, r2);
        code_.bind(is_kept);
        if (packets_.is_generated)
            wide(r4, cost());
        else
            code_.load(8, r4, kSlot, kSlotCostAt);
        code_.alu(k64, Operation::kAdd, r3, r4);
        store(kNext, r3);
        code_.alu(k64, Operation::kShiftRight, r4, 1);
        load(r3, kSoonest);
        wide_less(kBurst, is_early);
        code_.jump_if(k64, Condition::kGreaterOrEqual, r3, r2, is_soonest);
        move(r3, r2);
        code_.bind(is_early);
        code_.bind(is_soonest);
        code_.alu(k64, Operation::kAdd, r3, r4);
        store(kSoonest, r3);
    }

    // r2 = now - time, or a jump to `label` if that is less than 0.
    void wide_less(Ticks time, Label label)
    {
        wide(r5, time);
        code_.jump_if(k64, Condition::kGreater, r5, kNow, label);
        move(r2, kNow);
        code_.alu(k64, Operation::kSub, r2, r5);
    }

    void wide(Register to, uint64_t value)
    {
        // in halves: a constant of an instruction has 32 bits and a sign
        code_.alu(k64, Operation::kMove, to, int32_t(value >> 33));
        code_.alu(k64, Operation::kShiftLeft, to, 31);
        code_.alu(k64, Operation::kOr, to, int32_t(value >> 2 & 0x7fffffff));
        code_.alu(k64, Operation::kShiftLeft, to, 2);
        code_.alu(k64, Operation::kOr, to, int32_t(value & 3));
    }

    Ticks cost() const
    {
        return cost_of(setup_.work.rate, wire_bytes(packets_.places[0].bytes), setup_.work.threads);
    }

    // r1: the variant, which is the source port from the first one on.
    void write_header()
    {
        code_.load(4, r2, kContext, offsetof(xdp_md, data));
        code_.load(4, r3, kContext, offsetof(xdp_md, data_end));
        move(r4, r2);
        code_.alu(k64, Operation::kAdd, r4, int32_t(kHeaderBytes));
        code_.jump_if(k64, Condition::kGreater, r4, r3, drop_);
        for (uint32_t word = 0; word < kHeaderWords; ++word) {
            const uint32_t bytes = std::min(8u, uint32_t(kHeaderBytes) - 8 * word);
            code_.load(bytes, r4, kState, at(kHeader + word));
            code_.store(bytes, r2, at(word), r4);
        }
        if (packets_.source_ports == 1)
            return;
        code_.alu(k64, Operation::kAdd, r1, kFirstSourcePort);
        move(r3, r1);
        code_.to_big_endian(r3, 16);
        code_.store(2, r2, kSourcePortAt, r3);
        write_checksum();
    }

    // The same as set_source_port().  r1: the port; r2: the packet.
    void write_checksum()
    {
        const Label is_some = code_.new_label();
        code_.alu(k64, Operation::kAdd, r1, int32_t(sum_without_port(packets_.packet(0))));
        move(r3, r1);
        code_.alu(k64, Operation::kShiftRight, r3, 16);
        code_.alu(k64, Operation::kAnd, r1, 0xffff);
        code_.alu(k64, Operation::kAdd, r1, r3);
        code_.alu(k64, Operation::kXor, r1, 0xffff);
        code_.jump_if(k64, Condition::kNotEqual, r1, 0, is_some);
        code_.alu(k64, Operation::kMove, r1, 0xffff);
        code_.bind(is_some);
        code_.to_big_endian(r1, 16);
        code_.store(2, r2, kUdpChecksumAt, r1);
    }

    // The frame is as long as the longest packet: it is cut, then written.
    void write_packet()
    {
        const auto longest = int32_t(packets_.longest());
        code_.load(8, r2, kSlot, kSlotBytesAt);
        code_.alu(k64, Operation::kSub, r2, longest);
        move(r1, kContext);
        call(BPF_FUNC_xdp_adjust_tail);
        code_.jump_if(k64, Condition::kNotEqual, r0, 0, drop_);
        code_.load(8, r4, kSlot, kSlotBytesAt);
        code_.jump_if(k64, Condition::kGreater, r4, longest, drop_); // these two for the verifier
        code_.jump_if(k64, Condition::kLess, r4, int32_t(kEthernetBytes), drop_);
        move(r1, kContext);
        code_.alu(k64, Operation::kMove, r2, 0);
        move(r3, kSlot);
        code_.alu(k64, Operation::kAdd, r3, int32_t(kSlotDataAt));
        call(BPF_FUNC_xdp_store_bytes);
        code_.jump_if(k64, Condition::kNotEqual, r0, 0, drop_);
    }

    void count()
    {
        if (!packets_.is_generated)
            add_bytes();
        const Label is_more = code_.new_label();
        load(r1, kAsked);
        code_.alu(k64, Operation::kAdd, r1, 1);
        store(kAsked, r1);
        load(r2, kLimit);
        code_.jump_if(k64, Condition::kNotEqual, r1, r2, is_more);
        call(BPF_FUNC_ktime_get_ns);
        store(kLast, r0);
        code_.bind(is_more);
    }

    void add_bytes()
    {
        const auto least = int32_t(kLeastWireBytes);
        const Label is_long = code_.new_label();
        code_.load(8, r2, kSlot, kSlotBytesAt);
        code_.alu(k64, Operation::kAdd, r2, int32_t(kChecksumBytes));
        code_.jump_if(k64, Condition::kGreaterOrEqual, r2, least, is_long);
        code_.alu(k64, Operation::kMove, r2, least);
        code_.bind(is_long);
        load(r3, kBytes);
        code_.alu(k64, Operation::kAdd, r3, r2);
        store(kBytes, r3);
    }

    void redirect()
    {
        code_.alu(k64, Operation::kMove, r1, setup_.work.interface.index);
        code_.alu(k64, Operation::kMove, r2, 0);
        call(BPF_FUNC_redirect);
        code_.exit();
    }

    const LiveSetup &setup_;
    const Packets &packets_;
    EbpfCode &code_;
    Label drop_;
};
} // namespace

void write_sender(const LiveSetup &setup, EbpfCode &code)
{
    Writer(setup, code).write();
}

void write_counter(const LiveSetup &setup, int16_t index_at, EbpfCode &code)
{
    // arguments of the tracepoint, 64 bits each
    enum : int16_t { kFromDevice = 0, kToDevice = 8, kSent = 16, kDrops = 24, kNumber = 32 };
    const Label end = code.new_label();
    code.alu(k64, Operation::kMove, kContext, r1);
    code.map_value(kState, setup.state, 0);
    code.call(static_cast<EbpfHelper>(BPF_FUNC_get_current_pid_tgid));
    code.load(4, r1, kState, at(kThread));
    code.jump_if(k32, Condition::kNotEqual, r0, r1, end);
    // Another program may forward to the same interface while this thread is interrupted.
    code.load(8, r1, kContext, kFromDevice);
    code.load(4, r1, r1, index_at);
    code.jump_if(k64, Condition::kNotEqual, r1, kLoopbackIndex, end);
    code.load(8, r1, kContext, kToDevice);
    code.load(4, r1, r1, index_at);
    code.jump_if(k64, Condition::kNotEqual, r1, setup.work.interface.index, end);
    for (const auto &[from, to] : {std::pair{kSent, kAccepted}, std::pair{kDrops, kDropped}}) {
        code.load(8, r1, kContext, from);
        code.load(8, r2, kState, at(to));
        code.alu(k64, Operation::kAdd, r2, r1);
        code.store(8, kState, at(to), r2);
    }
    code.load(8, r1, kContext, kNumber);
    code.jump_if(k64, Condition::kEqual, r1, 0, end);
    code.store(8, kState, at(kError), r1);
    code.bind(end);
    code.alu(k64, Operation::kMove, r0, 0);
    code.exit();
}
} // namespace mapi_gen
