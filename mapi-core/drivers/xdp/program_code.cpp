// SPDX-License-Identifier: MIT
// A tree of nodes -> eBPF.
//
// The verifier follows each path on its own as long as they differ in what it knows.  Verdicts and
// the groups that an index finds are therefore in a map, about which it knows nothing: after each
// filter its paths are one again.
#include "drivers/xdp/program_code.hpp"

#include <algorithm>
#include <cstddef>

#include "match/bpf/native/bpf_emit_ebpf.hpp"

namespace mapi::drivers::xdp
{
namespace
{
using match::EbpfBytes;
using Register = match::EbpfRegister;
using Operation = match::EbpfOperation;
using Condition = match::EbpfCondition;
using Helper = match::EbpfHelper;
using Label = match::EbpfCode::Label;
constexpr auto k64 = match::EbpfWidth::k64;

constexpr Register kContext = Register::r6; // only helpers change r1 to r5
constexpr Register kData = Register::r7;    // as emit_ebpf_filter() needs it
constexpr Register kEnd = Register::r8;
constexpr Register kCounts = Register::r9; // of this CPU
constexpr Register kFrame = Register::r10;

// In the stack frame, below what filters use.
constexpr int16_t kCpu = match::kEbpfFrameEnd - 8;
constexpr int16_t kRecordBytes = kCpu - 8;
constexpr int16_t kTime = kRecordBytes - 8;

int16_t word(uint32_t number)
{
    return int16_t(8 * number);
}

class Writer
{
public:
    Writer(const ProgramTree &tree, const ProgramSetup &setup, match::EbpfCode &code)
        : tree_(tree), setup_(setup), code_(code), pass_(code.new_label()), end_(code.new_label())
    {
    }

    void write()
    {
        begin();
        const Label fragments = code_.new_label();
        if (setup_.takes_fragments) {
            code_.jump_if(k64, Condition::kGreater, Register::r0,
                          int32_t(match::kEbpfPacketBytesMax), fragments);
            move(Register::r1, kData);
            code_.alu(k64, Operation::kAdd, Register::r1, Register::r0);
            code_.jump_if(k64, Condition::kGreater, Register::r1, kEnd, fragments);
        }
        run_at(0, EbpfBytes::kPacket);
        code_.jump(end_);
        code_.bind(fragments);
        if (setup_.takes_fragments) {
            copy_fragments();
            run_at(0, EbpfBytes::kBuffer);
        }
        code_.bind(end_);
        if (tree_.wants_any())
            hand_over();
        code_.bind(pass_);
        set(Register::r0, match::kXdpPass);
        code_.exit();
    }

private:
    void set(Register to, int32_t value) { code_.alu(k64, Operation::kMove, to, value); }
    void move(Register to, Register from) { code_.alu(k64, Operation::kMove, to, from); }
    void add(Register to, int32_t value) { code_.alu(k64, Operation::kAdd, to, value); }

    // counter += r0, or += 1.
    void grow(Register base, uint32_t number, const Register *by)
    {
        code_.load(8, Register::r1, base, word(number));
        if (by)
            code_.alu(k64, Operation::kAdd, Register::r1, *by);
        else
            add(Register::r1, 1);
        code_.store(8, base, word(number), Register::r1);
    }

    // A map's value for this CPU; changes r1.
    void own_part(Register to, int map, uint32_t stride_bytes)
    {
        code_.load(8, Register::r1, kFrame, kCpu);
        code_.alu(k64, Operation::kMul, Register::r1, int32_t(stride_bytes));
        code_.map_value(to, map, 0);
        code_.alu(k64, Operation::kAdd, to, Register::r1);
    }

    void begin();
    void count(uint32_t place);
    void run_at(uint32_t place, EbpfBytes bytes);
    void run_filter(uint32_t node, EbpfBytes bytes);
    void look_up(uint32_t place, const FilterIndex &index, EbpfBytes bytes);
    void set_bit(uint32_t first, uint32_t words);
    void run_groups(uint32_t number, const FilterIndex &index, size_t first, EbpfBytes bytes);
    void copy_fragments();
    void hand_over();
    void write_record(uint32_t head_bytes);

    const ProgramTree &tree_;
    const ProgramSetup &setup_;
    match::EbpfCode &code_;
    const Label pass_;
    const Label end_;
};

// Leaves the packet's length in r0 and its ends in kData and kEnd, and counts it.
void Writer::begin()
{
    move(kContext, Register::r1);
    code_.call(Helper::kGetSmpProcessorId);
    code_.jump_if(k64, Condition::kGreaterOrEqual, Register::r0, int32_t(setup_.ring.cpus), pass_);
    code_.store(8, kFrame, kCpu, Register::r0);
    own_part(kCounts, setup_.counts, 8 * tree_.count_words());
    move(Register::r1, kContext);
    code_.call(Helper::kXdpGetBuffLen);
    code_.store(4, kFrame, match::kEbpfWireBytes, Register::r0);
    code_.load(4, kData, kContext, match::kXdpData);
    code_.load(4, kEnd, kContext, match::kXdpDataEnd);
    count(0);
    if (!tree_.wants_any())
        return;
    code_.store_constant(8, kCounts, word(kIsWanted), tree_.wants_all());
    for (uint32_t i = 0; i < tree_.verdict_words(); ++i)
        code_.store_constant(8, kCounts, word(kVerdicts + i), 0);
}

void Writer::count(uint32_t place)
{
    code_.load(4, Register::r0, kFrame, match::kEbpfWireBytes);
    const Register length = Register::r0;
    grow(kCounts, tree_.count_word(place), nullptr);
    grow(kCounts, tree_.count_word(place) + 1, &length);
}

void Writer::run_at(uint32_t place, EbpfBytes bytes)
{
    if (const uint32_t verdict = tree_.verdict_of(place); verdict != ProgramTree::kNone) {
        const uint32_t number = kVerdicts + verdict / 64;
        set(Register::r2, 1);
        code_.alu(k64, Operation::kShiftLeft, Register::r2, int32_t(verdict % 64));
        code_.load(8, Register::r1, kCounts, word(number));
        code_.alu(k64, Operation::kOr, Register::r1, Register::r2);
        code_.store(8, kCounts, word(number), Register::r1);
        if (!tree_.wants_all())
            code_.store_constant(8, kCounts, word(kIsWanted), 1);
    }
    const FilterIndex *const index = tree_.index_at(place);
    for (const uint32_t node : index ? index->always() : tree_.filters_at(place))
        run_filter(node, bytes);
    if (index)
        look_up(place, *index, bytes);
}

void Writer::run_filter(uint32_t node, EbpfBytes bytes)
{
    const mapi_offload_step &step = tree_.nodes()[node].step;
    const match::EbpfPlaces places = {bytes, code_.new_label(), code_.new_label()};
    static_assert(sizeof(bpf_insn) == sizeof(mapi_filter_code));
    match::emit_ebpf_filter({reinterpret_cast<const bpf_insn *>(step.code), step.code_count}, code_,
                            places);
    code_.bind(places.accept);
    count(node + 1);
    run_at(node + 1, bytes);
    code_.bind(places.reject);
}

// Sets the bits of the groups that the packet's fields select, then runs these groups in their
// order, each once.
void Writer::look_up(uint32_t place, const FilterIndex &index, EbpfBytes bytes)
{
    for (size_t field = 0; field < index.fields(); ++field) {
        const Label found = code_.new_label(), missing = code_.new_label();
        match::emit_ebpf_filter(index.loader(field), code_, {bytes, found, missing});
        code_.bind(found); // r1: the folded value
        code_.alu(k64, Operation::kAnd, Register::r1, FilterIndex::kTableEntries - 1);
        code_.alu(k64, Operation::kShiftLeft, Register::r1, 1);
        code_.map_value(Register::r2, setup_.tables,
                        uint32_t((tree_.first_table(place) + field) * sizeof(uint16_t) *
                                 FilterIndex::kTableEntries));
        code_.alu(k64, Operation::kAdd, Register::r2, Register::r1);
        code_.load(2, Register::r1, Register::r2, 0);
        code_.jump_if(k64, Condition::kEqual, Register::r1, 0, missing);
        set_bit(tree_.group_word(place), index.group_words());
        code_.bind(missing);
    }
    for (uint32_t number = 0; number < index.group_words(); ++number)
        run_groups(tree_.group_word(place) + number, index, size_t{64} * number, bytes);
}

// Of the number in r1, in words from `first`; changes r2 to r4.
void Writer::set_bit(uint32_t first, uint32_t words)
{
    move(Register::r2, Register::r1);
    code_.alu(k64, Operation::kShiftRight, Register::r2, 6);
    code_.alu(k64, Operation::kAnd, Register::r2, int32_t(words - 1)); // for the verifier
    code_.alu(k64, Operation::kShiftLeft, Register::r2, 3);
    code_.alu(k64, Operation::kAdd, Register::r2, kCounts);
    set(Register::r3, 1);
    code_.alu(k64, Operation::kAnd, Register::r1, 63);
    code_.alu(k64, Operation::kShiftLeft, Register::r3, Register::r1);
    code_.load(8, Register::r4, Register::r2, word(first));
    code_.alu(k64, Operation::kOr, Register::r4, Register::r3);
    code_.store(8, Register::r2, word(first), Register::r4);
}

// Those of the 64 groups from `first` whose bits are set in the word, which becomes zero.
void Writer::run_groups(uint32_t number, const FilterIndex &index, size_t first, EbpfBytes bytes)
{
    constexpr size_t kAtOnce = 8;
    const size_t last = std::min(first + 64, index.groups().size());
    const Label none = code_.new_label();
    const auto skip_without = [&](size_t bit, int32_t bits, Label to) {
        code_.load(8, Register::r1, kCounts, word(number));
        code_.alu(k64, Operation::kShiftRight, Register::r1, int32_t(bit));
        code_.alu(k64, Operation::kAnd, Register::r1, bits);
        code_.jump_if(k64, Condition::kEqual, Register::r1, 0, to);
    };
    code_.load(8, Register::r1, kCounts, word(number));
    code_.jump_if(k64, Condition::kEqual, Register::r1, 0, none);
    for (size_t some = first; some < last; some += kAtOnce) {
        const Label next = code_.new_label();
        skip_without(some - first, (1 << kAtOnce) - 1, next);
        for (size_t group = some; group < std::min(some + kAtOnce, last); ++group) {
            const Label not_set = code_.new_label();
            skip_without(group - first, 1, not_set);
            for (const uint32_t node : index.groups()[group])
                run_filter(node, bytes);
            code_.bind(not_set);
        }
        code_.bind(next);
    }
    code_.store_constant(8, kCounts, word(number), 0);
    code_.bind(none);
}

// A packet in several pieces -> one in this CPU's buffer.
void Writer::copy_fragments()
{
    own_part(kData, setup_.buffers, match::kEbpfBufferBytes);
    const Label fits = code_.new_label();
    move(kEnd, Register::r0);
    code_.jump_if(k64, Condition::kLessOrEqual, kEnd, int32_t(match::kEbpfPacketBytesMax), fits);
    set(kEnd, int32_t(match::kEbpfPacketBytesMax));
    code_.bind(fits);
    code_.jump_if(k64, Condition::kEqual, kEnd, 0, end_);
    move(Register::r1, kContext);
    set(Register::r2, 0);
    move(Register::r3, kData);
    move(Register::r4, kEnd);
    code_.call(Helper::kXdpLoadBytes);
}

// If some node wants the packet: a record in this CPU's ring.
void Writer::hand_over()
{
    const uint32_t head_bytes = uint32_t(sizeof(PacketRecord) + size_t{8} * tree_.verdict_words());
    code_.load(8, Register::r1, kCounts, word(kIsWanted));
    code_.jump_if(k64, Condition::kEqual, Register::r1, 0, pass_);
    code_.call(Helper::kKtimeGetNs);
    code_.store(8, kFrame, kTime, Register::r0);

    const Register caplen = kEnd, ring = kData;
    const Label fits = code_.new_label();
    code_.load(4, caplen, kFrame, match::kEbpfWireBytes);
    code_.jump_if(k64, Condition::kLessOrEqual, caplen, int32_t(setup_.snaplen), fits);
    set(caplen, int32_t(setup_.snaplen));
    code_.bind(fits);
    code_.jump_if(k64, Condition::kEqual, caplen, 0, pass_);

    own_part(ring, setup_.rings, setup_.ring.stride_bytes());
    move(Register::r3, caplen);
    add(Register::r3, int32_t(head_bytes + 7));
    code_.alu(k64, Operation::kAnd, Register::r3, -8);
    code_.store(8, kFrame, kRecordBytes, Register::r3);
    code_.load(8, Register::r1, ring, word(kWritten));
    code_.load(8, Register::r2, ring, word(kTaken));
    code_.alu(k64, Operation::kAdd, Register::r3, Register::r1);
    code_.alu(k64, Operation::kSub, Register::r3, Register::r2);
    const Label has_room = code_.new_label();
    code_.jump_if(k64, Condition::kLessOrEqual, Register::r3, int32_t(setup_.ring.data_bytes),
                  has_room);
    grow(ring, kRingFull, nullptr);
    code_.jump(pass_);
    code_.bind(has_room);
    write_record(head_bytes);
}

// In r1: the position in this CPU's ring, kData; in kEnd the bytes to copy.
void Writer::write_record(uint32_t head_bytes)
{
    const Register record = kCounts, ring = kData, caplen = kEnd;
    const auto field = [](size_t offset) { return int16_t(size_t{8} * kRingHeadWords + offset); };
    code_.alu(k64, Operation::kAnd, Register::r1, int32_t(setup_.ring.data_bytes - 1));
    code_.alu(k64, Operation::kAdd, Register::r1, ring);
    for (uint32_t i = 0; i < tree_.verdict_words(); ++i) {
        code_.load(8, Register::r2, kCounts, word(kVerdicts + i));
        code_.store(8, Register::r1, field(sizeof(PacketRecord) + size_t{8} * i), Register::r2);
    }
    move(record, Register::r1);
    code_.load(8, Register::r2, kFrame, kRecordBytes);
    code_.store(4, record, field(offsetof(PacketRecord, bytes)), Register::r2);
    code_.store(4, record, field(offsetof(PacketRecord, caplen)), caplen);
    code_.load(8, Register::r2, kFrame, kTime);
    code_.store(8, record, field(offsetof(PacketRecord, time_ns)), Register::r2);
    code_.load(4, Register::r2, kFrame, match::kEbpfWireBytes);
    code_.store(4, record, field(offsetof(PacketRecord, wire_bytes)), Register::r2);
    code_.store_constant(4, record, field(offsetof(PacketRecord, program)), int32_t(setup_.number));
    move(Register::r1, kContext);
    set(Register::r2, 0);
    move(Register::r3, record);
    add(Register::r3, field(head_bytes));
    move(Register::r4, caplen);
    code_.call(Helper::kXdpLoadBytes);
    const Label is_copied = code_.new_label();
    code_.jump_if(k64, Condition::kEqual, Register::r0, 0, is_copied);
    grow(ring, kUnreadable, nullptr);
    code_.jump(pass_);
    code_.bind(is_copied);
    code_.load(8, Register::r1, kFrame, kRecordBytes);
    code_.fetch_add(ring, word(kWritten), Register::r1); // after all stores before it
}
} // namespace

void emit_program(const ProgramTree &tree, const ProgramSetup &setup, match::EbpfCode &code)
{
    Writer(tree, setup, code).write();
}
} // namespace mapi::drivers::xdp
