// SPDX-License-Identifier: MIT
// Probes as eBPF.  A record is written as by nsbpf/include/nslice/bpf_write.h.
#include "drivers/xdp/code/probe_code.hpp"

#include <cstddef>

#include <nslice/record.h>

#include "match/bpf/native/bpf_emit_ebpf.hpp"

namespace mapi::drivers::xdp
{
namespace
{
constexpr int32_t kMostTries = 8; // a writer that interrupts takes the place that this one has seen
constexpr uint32_t kUnitWords = NSLICE_INIT_WORDS;

// In the frame of a function that writes a record.
enum Slot : int16_t { kKey = -8, kTime = -16, kNumber = -24, kWireBytes = -32 };

constexpr int16_t kHeadOffset = offsetof(nslice_ring_meta, head);
constexpr int16_t kTailOffset = offsetof(nslice_ring_meta, tail);
constexpr int16_t kDataOffset = NSLICE_RING_META_BYTES;
} // namespace

void ProbeCode::jump_if_off(uint32_t site, Label to)
{
    code_.map_value(Register::r2, maps_->sites(),
                    uint32_t(site * sizeof(nslice_bpf_site) + offsetof(nslice_bpf_site, bits)));
    code_.load(8, Register::r2, Register::r2, 0);
    code_.jump_if(k64, Condition::kEqual, Register::r2, 0, to);
}

void ProbeCode::init(Register context, Register counts)
{
    if (!maps_)
        return;
    const Label off = code_.new_label();
    jump_if_off(ProbeMaps::site_of(direction_, Stage::kPacket, Edge::kBegin), off);
    move(Register::r1, context);
    code_.load(8, Register::r3, counts, word(kAllPackets));
    code_.load(4, Register::r4, kFrame, match::kEbpfWireBytes);
    set(Register::r5, 0);
    code_.call_function(unit_);
    code_.load(4, Register::r0, kFrame, match::kEbpfWireBytes);
    code_.bind(off);
}

void ProbeCode::emit(Stage stage, Edge edge, Register context)
{
    if (!maps_)
        return;
    const Label off = code_.new_label();
    jump_if_off(ProbeMaps::site_of(direction_, stage, edge), off);
    move(Register::r1, context);
    for (const Register unused : {Register::r3, Register::r4, Register::r5})
        set(unused, 0); // else the verifier keeps paths apart in which they differ
    code_.call_function(slice_);
    code_.bind(off);
}

void ProbeCode::write_functions()
{
    if (code_.is_used(unit_))
        write_function(unit_, kUnitWords);
    if (code_.is_used(slice_))
        write_function(slice_, 0);
}

void ProbeCode::write_function(Label function, uint32_t words)
{
    const Label none = code_.new_label();
    code_.begin_function(function, match::EbpfLinkage::kGlobal, words > 0 ? 3 : 1);
    move(kBits, Register::r2);
    if (words > 0) {
        code_.store(8, kFrame, kNumber, Register::r3);
        code_.store(8, kFrame, kWireBytes, Register::r4);
    }
    find_thread();
    find_ring(none);
    claim(NSLICE_HEAD_WORDS + words, none);
    code_.load(8, Register::r2, kFrame, kTime);
    store_word(0, Register::r2);
    if (words > 0) {
        code_.load(8, Register::r2, kFrame, kNumber);
        store_word(NSLICE_HEAD_WORDS, Register::r2);
        set(Register::r2, 1); // packet
        store_word(NSLICE_HEAD_WORDS + 1, Register::r2);
        code_.load(8, Register::r2, kFrame, kWireBytes);
        store_word(NSLICE_HEAD_WORDS + 2, Register::r2);
    }
    publish();
    code_.bind(none);
    leave(0);
}

// Adds it to the bits.
void ProbeCode::find_thread()
{
    if (maps_->thread_offset() == ProbeMaps::kNoOffset) {
        code_.call(Helper::kGetCurrentPidTgid);
        code_.alu(k32, Operation::kMove, Register::r0, Register::r0); // the lower half
    } else {
        code_.call(Helper::kGetCurrentTaskBtf);
        code_.load(4, Register::r0, Register::r0, maps_->thread_offset());
    }
    code_.alu(k64, Operation::kOr, kBits, Register::r0);
}

void ProbeCode::find_ring(Label none)
{
    code_.call(Helper::kGetSmpProcessorId);
    code_.store(4, kFrame, kKey, Register::r0);
    code_.map(Register::r1, maps_->rings());
    move(Register::r2, kFrame);
    add(Register::r2, kKey);
    code_.call(Helper::kMapLookupElem);
    code_.jump_if(k64, Condition::kEqual, Register::r0, 0, none);
    move(kRing, Register::r0);
}

// Leaves the place of the record in kHead, and its time in the frame.  The clock is read between
// reading the head and claiming, so that times grow within a ring.
void ProbeCode::claim(uint32_t words, Label none)
{
    const Label again = code_.new_label(), full = code_.new_label(), claimed = code_.new_label();
    set(kTries, kMostTries);
    code_.bind(again);
    code_.load(8, kHead, kRing, kHeadOffset);
    code_.load(8, Register::r1, kRing, kTailOffset);
    code_.alu(k32, Operation::kMove, Register::r2, kHead);
    code_.alu(k32, Operation::kSub, Register::r2, Register::r1);
    code_.alu(k32, Operation::kAdd, Register::r2, int32_t(words));
    code_.jump_if(k32, Condition::kGreater, Register::r2,
                  int32_t(maps_->data_bytes() / NSLICE_WORD_BYTES), full);
    code_.call(Helper::kKtimeGetNs);
    code_.store(8, kFrame, kTime, Register::r0);
    code_.constant(Register::r1, NSLICE_POSITION_STEP(words));
    add(Register::r1, kHead);
    move(Register::r0, kHead);
    code_.compare_exchange(kRing, kHeadOffset, Register::r1);
    code_.jump_if(k64, Condition::kEqual, Register::r0, kHead, claimed);
    add(kTries, -1);
    code_.jump_if(k64, Condition::kNotEqual, kTries, 0, again);
    lose(NSLICE_LOST_BUSY);
    code_.jump(none);
    code_.bind(full);
    lose(NSLICE_LOST_FULL);
    code_.jump(none);
    code_.bind(claimed);
}

void ProbeCode::lose(uint32_t cause)
{
    set(Register::r1, 1);
    code_.fetch_add(kRing, int16_t(offsetof(nslice_ring_meta, lost) + sizeof(uint64_t) * cause),
                    Register::r1);
}

// Leaves the address of a word of the record, less kDataOffset, in `place`.
void ProbeCode::point_at(uint32_t number, Register place)
{
    code_.alu(k32, Operation::kMove, place, kHead);
    if (number > 0)
        code_.alu(k32, Operation::kAdd, place, int32_t(number));
    code_.alu(k64, Operation::kAnd, place, int32_t(maps_->data_bytes() / NSLICE_WORD_BYTES - 1));
    code_.alu(k64, Operation::kShiftLeft, place, 3);
    add(place, kRing);
}

// Changes r1.
void ProbeCode::store_word(uint32_t number, Register from)
{
    point_at(number, Register::r1);
    code_.store(8, Register::r1, kDataOffset, from);
}

// The kind makes a record complete: stores before it come first.
void ProbeCode::publish()
{
    point_at(1, Register::r1);
#ifdef __x86_64__ // keeps the order of stores
    code_.store(8, Register::r1, kDataOffset, kBits);
#else
    code_.exchange(Register::r1, kDataOffset, kBits);
#endif
}
} // namespace mapi::drivers::xdp
