// SPDX-License-Identifier: MIT
// A tree of nodes -> eBPF.
//
// The verifier follows each path on its own as long as they differ in what it knows.  Verdicts and
// the groups that an index finds are therefore in a map, about which it knows nothing: after each
// filter its paths are one again.
#include "drivers/xdp/code/program_code.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "drivers/xdp/code/code_writer.hpp"
#include "drivers/xdp/code/hash_code.hpp"
#include "drivers/xdp/code/node_code.hpp"
#include "drivers/xdp/code/probe_code.hpp"
#include "drivers/xdp/code/record_code.hpp"
#include "drivers/xdp/code/search_code.hpp"
#include "match/bpf/native/bpf_emit_ebpf.hpp"

namespace mapi::drivers::xdp
{
namespace
{
using match::EbpfBytes;

constexpr match::EbpfRegister kContext = match::EbpfRegister::r6; // only calls change r1 to r5
constexpr match::EbpfRegister kData = match::EbpfRegister::r7;    // as emit_ebpf_filter() needs it
constexpr match::EbpfRegister kEnd = match::EbpfRegister::r8;
constexpr match::EbpfRegister kCounts = match::EbpfRegister::r9; // of this CPU

// In the stack frame, below what filters use.
constexpr int16_t kCpu = match::kEbpfFrameEnd - 8;

class Writer : private CodeWriter
{
public:
    Writer(const ProgramTree &tree, const ProgramSetup &setup, match::EbpfCode &code)
        : CodeWriter(setup.direction, code), tree_(tree), setup_(setup),
          fragments_(code.new_label()), record_(code.new_label()), search_(code.new_label()),
          hash_(code.new_label()), probes_(setup, code)
    {
    }

    void write()
    {
        begin();
        if (setup_.takes_fragments)
            leave_fragments();
        run_at(0, EbpfBytes::kPacket);
        finish();
        if (setup_.takes_fragments)
            write_fragments();
        if (code_.is_used(record_))
            emit_record(tree_, setup_, code_, record_);
        if (code_.is_used(search_))
            emit_search(tree_, setup_, code_, search_);
        if (code_.is_used(hash_))
            emit_flow_hash(tree_.hash_word(), setup_, code_, hash_);
        probes_.write_functions();
    }

private:
    void begin();
    void count(uint32_t place);
    void run_at(uint32_t place, EbpfBytes bytes);
    void set_verdict(uint32_t verdict, uint32_t bytes);
    void note_last(uint32_t place);
    void run_sample(uint32_t node, EbpfBytes bytes);
    void run_filters(uint32_t place, EbpfBytes bytes);
    void run_filter(uint32_t node, EbpfBytes bytes);
    void run_searches(uint32_t place, EbpfBytes bytes);
    void run_hashes(uint32_t place, EbpfBytes bytes);
    void look_up(uint32_t place, const FilterIndex &index, EbpfBytes bytes);
    void forget_bounds(EbpfBytes bytes);
    template <typename Run>
    void run_bits(uint32_t number, std::span<const uint32_t> bits, const Run &run);
    void leave_fragments();
    void write_fragments();
    void call(Label function);
    void begins(Stage stage) { probes_.emit(stage, Edge::kBegin, kContext); }
    void ends(Stage stage) { probes_.emit(stage, Edge::kEnd, kContext); }
    void finish();
    int32_t result() const
    {
        return setup_.drops && direction_ == Direction::kIncoming ? match::kXdpDrop
                                                                  : context_.passes;
    }

    const ProgramTree &tree_;
    const ProgramSetup &setup_;
    const Label fragments_;
    const Label record_;
    const Label search_;
    const Label hash_;
    ProbeCode probes_;
    bool is_in_filters_ = false; // in the slice of the filters of another place
};

// Leaves the packet's length in r0 and its ends in kData and kEnd, and counts it.
void Writer::begin()
{
    move(kContext, Register::r1);
    code_.call(Helper::kGetSmpProcessorId);
    const Label is_known = code_.new_label();
    code_.jump_if(k64, Condition::kLess, Register::r0, int32_t(setup_.ring.cpus), is_known);
    leave(result());
    code_.bind(is_known);
    code_.store(8, kFrame, kCpu, Register::r0);
    own_part(kCounts, setup_.counts, 8 * tree_.count_words(), Register::r0);
    move(Register::r1, kContext);
    emit_packet_length(direction_, code_);
    code_.store(4, kFrame, match::kEbpfWireBytes, Register::r0);
    code_.load(4, kData, kContext, context_.data);
    code_.load(4, kEnd, kContext, context_.data_end);
    count(0);
    probes_.init(kContext, kCounts);
    if (tree_.has_last())
        code_.store_constant(8, kCounts, word(tree_.time_word()), 0);
    if (!tree_.wants_any())
        return;
    code_.store_constant(8, kCounts, word(kWantedBytes), int32_t(tree_.all_bytes()));
    if (tree_.searches())
        code_.store_constant(8, kCounts, word(tree_.search_word() + kSearchEnd), kNotSearched);
    if (tree_.has_hashes())
        code_.store_constant(8, kCounts, word(tree_.hash_word() + kFlowHash), kNotHashed);
    for (uint32_t i = 0; i < tree_.verdict_words(); ++i)
        code_.store_constant(8, kCounts, word(kVerdicts + i), 0);
}

// Jumps over more than 32,767 instructions are not possible; calls are.
void Writer::leave_fragments()
{
    const Label several = code_.new_label(), one = code_.new_label();
    code_.jump_if(k64, Condition::kGreater, Register::r0, int32_t(match::kEbpfPacketBytesMax),
                  several);
    move(Register::r1, kData);
    code_.alu(k64, Operation::kAdd, Register::r1, Register::r0);
    code_.jump_if(k64, Condition::kLessOrEqual, Register::r1, kEnd, one);
    code_.bind(several);
    call(fragments_);
    finish();
    code_.bind(one);
}

void Writer::call(Label function)
{
    move(Register::r1, kContext);
    move(Register::r2, kCounts);
    code_.load(8, Register::r3, kFrame, kCpu);
    code_.load(4, Register::r4, kFrame, match::kEbpfWireBytes);
    code_.call_function(function);
}

// If some node wants the packet: a record in this CPU's ring.
void Writer::finish()
{
    if (tree_.wants_any()) {
        const Label is_not_wanted = code_.new_label();
        code_.load(8, Register::r1, kCounts, word(kWantedBytes));
        code_.jump_if(k64, Condition::kEqual, Register::r1, 0, is_not_wanted);
        begins(Stage::kRecord);
        call(record_);
        ends(Stage::kRecord);
        code_.bind(is_not_wanted);
    }
    ends(Stage::kPacket);
    leave(result());
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
    if (const uint32_t verdict = tree_.verdict_of(place); verdict != ProgramTree::kNone)
        set_verdict(verdict, tree_.bytes_of(place));
    if (tree_.has_last(place))
        note_last(place);
    if (!tree_.filters_at(place).empty())
        run_filters(place, bytes);
    if (!tree_.searches_at(place).nodes.empty())
        run_searches(place, bytes);
    if (!tree_.hashes_at(place).nodes.empty())
        run_hashes(place, bytes);
    for (const uint32_t node : tree_.samples_at(place))
        run_sample(node, bytes);
}

// Of the numbers of bytes of all verdicts the maximum is wanted.  MAPI_OFFLOAD_WHOLE is -1 here and
// so the largest number.
void Writer::set_verdict(uint32_t verdict, uint32_t bytes)
{
    const uint32_t number = kVerdicts + verdict / 64;
    set(Register::r2, 1);
    code_.alu(k64, Operation::kShiftLeft, Register::r2, int32_t(verdict % 64));
    code_.load(8, Register::r1, kCounts, word(number));
    code_.alu(k64, Operation::kOr, Register::r1, Register::r2);
    code_.store(8, kCounts, word(number), Register::r1);
    if (bytes <= tree_.all_bytes())
        return;
    const Label is_more = code_.new_label();
    if (!tree_.wants_same()) {
        code_.load(8, Register::r1, kCounts, word(kWantedBytes));
        code_.jump_if(k64, Condition::kGreaterOrEqual, Register::r1, int32_t(bytes), is_more);
    }
    code_.store_constant(8, kCounts, word(kWantedBytes), int32_t(bytes));
    code_.bind(is_more);
}

void Writer::note_last(uint32_t place)
{
    emit_packet_time(kCounts, word(tree_.time_word()), code_);
    code_.store(8, kCounts, word(tree_.last_word(place)), Register::r0);
    code_.load(4, Register::r1, kFrame, match::kEbpfWireBytes);
    code_.store(8, kCounts, word(tree_.last_word(place) + 1), Register::r1);
}

void Writer::run_sample(uint32_t node, EbpfBytes bytes)
{
    const mapi_offload_step &step = tree_.nodes()[node].step;
    const Label reject = code_.new_label();
    SharedWord shared = {-1, 0};
    if (step.period > 0)
        shared = {setup_.states->descriptor(), setup_.leases[node]->byte_offset()};
    emit_sample(step, shared, code_, reject);
    count(tree_.place_of(node));
    run_at(tree_.place_of(node), bytes);
    code_.bind(reject);
}

// One slice for filters and what follows those that accept: each has less to do than a probe.
void Writer::run_filters(uint32_t place, EbpfBytes bytes)
{
    const bool is_inner = std::exchange(is_in_filters_, true);
    if (!is_inner)
        begins(Stage::kFilters);
    const FilterIndex *const index = tree_.index_at(place);
    for (const uint32_t node : index ? index->always() : tree_.filters_at(place))
        run_filter(node, bytes);
    if (index)
        look_up(place, *index, bytes);
    if (!is_inner)
        ends(Stage::kFilters);
    is_in_filters_ = is_inner;
}

void Writer::run_filter(uint32_t node, EbpfBytes bytes)
{
    const mapi_offload_step &step = tree_.nodes()[node].step;
    const match::EbpfPlaces places = {bytes, code_.new_label(), code_.new_label()};
    static_assert(sizeof(bpf_insn) == sizeof(mapi_filter_code));
    match::emit_ebpf_filter({reinterpret_cast<const bpf_insn *>(step.code), step.code_count}, code_,
                            places);
    code_.bind(places.accept);
    count(tree_.place_of(node));
    run_at(tree_.place_of(node), bytes);
    code_.bind(places.reject);
}

// What the verifier knows about the packet's length differs from path to path: it would follow the
// code of each group once for each length that the filters before have tested.
void Writer::forget_bounds(EbpfBytes bytes)
{
    if (bytes == EbpfBytes::kPacket) {
        code_.load(4, kData, kContext, context_.data);
        code_.load(4, kEnd, kContext, context_.data_end);
    } else {
        code_.load(8, kEnd, kCounts, word(kCopiedBytes));
        code_.alu(k64, Operation::kAnd, kEnd, int32_t(match::kEbpfPacketBytesMax)); // 2^16 - 1
    }
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
        set_bit(kCounts, word(tree_.group_word(place)), index.group_words(), Register::r1,
                Register::r2, Register::r3);
        code_.bind(missing);
    }
    for (uint32_t number = 0; size_t{64} * number < index.groups().size(); ++number) {
        const std::span groups = std::span(index.groups()).subspan(size_t{64} * number);
        const uint32_t groups_word = tree_.group_word(place) + number;
        std::vector<uint32_t> bits(std::min<size_t>(64, groups.size()));
        std::iota(bits.begin(), bits.end(), 0);
        run_bits(groups_word, bits, [&](uint32_t bit) {
            forget_bounds(bytes);
            for (const uint32_t node : groups[bit])
                run_filter(node, bytes);
        });
        code_.store_constant(8, kCounts, word(groups_word), 0);
    }
}

// Runs what belongs to those of the bits that are set in the word; they are in order.
template <typename Run>
void Writer::run_bits(uint32_t number, std::span<const uint32_t> bits, const Run &run)
{
    constexpr uint32_t kAtOnce = 8;
    const auto skip_without = [&](uint32_t shift, int32_t mask, Label to) {
        code_.load(8, Register::r1, kCounts, word(number));
        code_.alu(k64, Operation::kShiftRight, Register::r1, int32_t(shift));
        code_.alu(k64, Operation::kAnd, Register::r1, mask);
        code_.jump_if(k64, Condition::kEqual, Register::r1, 0, to);
    };
    for (auto bit = bits.begin(); bit != bits.end();) {
        const uint32_t first = *bit;
        const auto end =
            std::find_if(bit, bits.end(), [&](uint32_t later) { return later >= first + kAtOnce; });
        int32_t any = 0;
        std::for_each(bit, end, [&](uint32_t its) { any |= 1 << (its - first); });
        const Label next = code_.new_label();
        skip_without(first, any, next);
        for (; bit != end; ++bit) {
            const Label not_set = code_.new_label();
            skip_without(*bit, 1, not_set);
            run(*bit);
            code_.bind(not_set);
        }
        code_.bind(next);
    }
}

// The packet is searched once, for all places.  After a search that has ended early no bit is set.
void Writer::run_searches(uint32_t place, EbpfBytes bytes)
{
    const ProgramTree::Searches &searches = tree_.searches_at(place);
    const Label searched = code_.new_label(), decided = code_.new_label();
    const int16_t search_end = word(tree_.search_word() + kSearchEnd);
    code_.load(8, Register::r1, kCounts, search_end);
    code_.jump_if(k64, Condition::kNotEqual, Register::r1, kNotSearched, searched);
    begins(Stage::kSearch);
    move(Register::r1, kContext);
    code_.load(8, Register::r2, kFrame, kCpu);
    code_.call_function(search_);
    ends(Stage::kSearch);
    code_.bind(searched);
    code_.load(8, Register::r1, kCounts, search_end);
    code_.jump_if(k64, Condition::kEqual, Register::r1, kSearched, decided);
    set_verdict(searches.undecided, MAPI_OFFLOAD_WHOLE);
    code_.bind(decided);
    std::map<uint32_t, std::vector<uint32_t>> words; // of all places -> bits
    for (const auto &[bit, nodes] : searches.by_bit)
        words[bit / 64].push_back(bit % 64);
    for (const auto &[number, bits] : words) {
        run_bits(tree_.search_word() + kFoundBits + number, bits,
                 [&, number = number](uint32_t bit) {
                     for (const uint32_t node : searches.by_bit.at(64 * number + bit)) {
                         count(tree_.place_of(node));
                         run_at(tree_.place_of(node), bytes);
                     }
                 });
    }
}

// The hash is computed once, for all places.  No part is as large as the number for a packet whose
// hash is not known.
void Writer::run_hashes(uint32_t place, EbpfBytes bytes)
{
    const ProgramTree::Hashes &hashes = tree_.hashes_at(place);
    const Label hashed = code_.new_label(), decided = code_.new_label();
    const int16_t hash = word(tree_.hash_word() + kFlowHash);
    code_.load(8, Register::r1, kCounts, hash);
    code_.jump_if(k64, Condition::kNotEqual, Register::r1, kNotHashed, hashed);
    begins(Stage::kHash);
    call(hash_);
    ends(Stage::kHash);
    code_.bind(hashed);
    code_.load(8, Register::r1, kCounts, hash);
    code_.jump_if(k64, Condition::kNotEqual, Register::r1, kNotDecided, decided);
    set_verdict(hashes.undecided, MAPI_OFFLOAD_WHOLE);
    code_.bind(decided);
    for (const uint32_t node : hashes.nodes) {
        const Label rejected = code_.new_label();
        code_.load(8, Register::r1, kCounts, hash);
        code_.jump_if(k64, Condition::kGreater, Register::r1,
                      int32_t(tree_.nodes()[node].step.parts), rejected);
        count(tree_.place_of(node));
        run_at(tree_.place_of(node), bytes);
        code_.bind(rejected);
    }
}

// (context, this CPU's counts, number of the CPU, wire length): the nodes on a packet in several
// pieces, as one in this CPU's buffer.
void Writer::write_fragments()
{
    code_.begin_function(fragments_);
    move(kContext, Register::r1);
    move(kCounts, Register::r2);
    code_.store(8, kFrame, kCpu, Register::r3);
    code_.store(4, kFrame, match::kEbpfWireBytes, Register::r4);
    move(kEnd, Register::r4);
    own_part(kData, setup_.buffers, match::kEbpfBufferBytes, Register::r3);
    const Label has_bytes = code_.new_label();
    limit(kEnd, int32_t(match::kEbpfPacketBytesMax));
    code_.store(8, kCounts, word(kCopiedBytes), kEnd);
    jump_unless_zero(kEnd, has_bytes);
    leave(0);
    code_.bind(has_bytes);
    move(Register::r1, kContext);
    set(Register::r2, 0);
    move(Register::r3, kData);
    move(Register::r4, kEnd);
    code_.call(context_.load_bytes);
    run_at(0, EbpfBytes::kBuffer);
    leave(0);
}
} // namespace

void emit_program(const ProgramTree &tree, const ProgramSetup &setup, match::EbpfCode &code)
{
    Writer(tree, setup, code).write();
}
} // namespace mapi::drivers::xdp
