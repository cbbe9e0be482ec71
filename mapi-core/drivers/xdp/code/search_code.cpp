// SPDX-License-Identifier: MIT
// A search as eBPF: 32 bytes of the packet a round, and for each byte at which texts end, the bits
// of those that end in their window.
//
// What changes from round to round is in the map of counts, where the verifier does not follow it.
#include "drivers/xdp/code/search_code.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "drivers/xdp/code/code_writer.hpp"
#include "match/bpf/native/bpf_emit_ebpf.hpp"

namespace mapi::drivers::xdp
{
namespace
{
using Output = SearchAutomaton::Output;

constexpr uint32_t kRoundShift = 5, kRoundBytes = 1 << kRoundShift;
constexpr uint32_t kRoundsMax = 65536 >> kRoundShift;

// The end of the frame of the search, which its rounds get.
enum Shared : int16_t { kLength = 0, kBuffer = 8, kCounts = 16, kSharedBytes = 24 };
// The end of the frame of the function below, which each output gets.
enum Found : int16_t { kFirst = 0, kPosition = 8, kFoundCounts = 16, kFoundBytes = 24 };

class Writer : private CodeWriter
{
public:
    using Label = CodeWriter::Label;

    Writer(const ProgramTree &tree, const ProgramSetup &setup, match::EbpfCode &code)
        : CodeWriter(setup.direction, code), searches_(*tree.searches()),
          first_word_(tree.search_word()), count_bytes_(8 * tree.count_words()), setup_(setup)
    {
    }

    void write_search(Label function, std::span<const Label> rounds);
    void write_round(const SearchSet::Placed &placed, Label function, Label found);
    void write_found(const SearchSet::Placed &placed, Label function, Label output);
    void write_output(const SearchSet::Placed &placed, Label function);

private:
    int16_t word(uint32_t number) const { return CodeWriter::word(first_word_ + number); }
    void map_byte(Register to, size_t byte)
    {
        code_.map_value(to, setup_.searches, uint32_t(byte));
    }
    void loop(Register rounds, Label function, int16_t frame_bytes);
    void clear_found(Register counts)
    {
        for (uint32_t i = 0; i < searches_.bit_words(); ++i)
            code_.store_constant(8, counts, word(kFoundBits + i), 0);
    }
    void step(uint32_t byte, int32_t mask, Register state);

    const SearchSet &searches_;
    const uint32_t first_word_;
    const uint32_t count_bytes_; // of a CPU
    const ProgramSetup &setup_;
};

// Calls the function with the number of each round and the end of this frame.
void Writer::loop(Register rounds, Label function, int16_t frame_bytes)
{
    move(Register::r1, rounds);
    code_.function_address(Register::r2, function);
    move(Register::r3, kFrame);
    add(Register::r3, -frame_bytes);
    set(Register::r4, 0);
    code_.call(Helper::kLoop);
}

// Copies the packet into this CPU's buffer, and searches there.
void Writer::write_search(Label function, std::span<const Label> rounds)
{
    const Register counts = Register::r6, buffer = Register::r7, length = Register::r8;
    const Label copied = code_.new_label(), none = code_.new_label(), is_known = code_.new_label();
    code_.begin_function(function, match::EbpfLinkage::kGlobal);
    code_.jump_if(k64, Condition::kLess, Register::r2, int32_t(setup_.ring.cpus), is_known);
    leave(0);
    code_.bind(is_known);
    move(Register::r3, Register::r2);
    own_part(counts, setup_.counts, count_bytes_, Register::r2);
    own_part(buffer, setup_.buffers, match::kEbpfBufferBytes, Register::r3);
    move(Register::r9, Register::r1);
    emit_packet_length(direction_, code_);
    move(length, Register::r0);
    limit(length, int32_t(std::min(setup_.snaplen, match::kEbpfPacketBytesMax)));
    code_.store_constant(8, counts, word(kSearchEnd), kSearched);
    clear_found(counts);
    jump_if_zero(length, none);
    move(Register::r1, Register::r9);
    set(Register::r2, 0);
    move(Register::r3, buffer);
    move(Register::r4, length);
    code_.call(context_.load_bytes);
    code_.jump_if(k64, Condition::kEqual, Register::r0, 0, copied);
    code_.store_constant(8, counts, word(kSearchEnd), kEndedEarly);
    leave(0);
    code_.bind(copied);
    code_.store(8, kFrame, kLength - kSharedBytes, length);
    code_.store(8, kFrame, kBuffer - kSharedBytes, buffer);
    code_.store(8, kFrame, kCounts - kSharedBytes, counts);
    code_.store_constant(8, counts, word(kOutputsLeft), kOutputsPerPacket);
    add(length, kRoundBytes - 1);
    code_.alu(k64, Operation::kShiftRight, length, kRoundShift);
    for (const Label round : rounds) {
        const Label complete = code_.new_label();
        code_.store_constant(8, counts, word(kSearchState), 0);
        loop(length, round, kSharedBytes);
        code_.load(8, Register::r1, counts, word(kSearchEnd));
        code_.jump_if(k64, Condition::kEqual, Register::r1, kSearched, complete);
        clear_found(counts);
        leave(0);
        code_.bind(complete);
    }
    code_.bind(none);
    leave(0);
}

// (number of the round, Shared) -> 1 if the search must end.  Bytes behind the packet's end may be
// of an earlier packet.
void Writer::write_round(const SearchSet::Placed &placed, Label function, Label found)
{
    const Register state = Register::r6, bytes = Register::r7, shared = Register::r3;
    const auto mask = int32_t(placed.automaton.table().size() - 1);
    const Label over = code_.new_label();
    code_.begin_function(function);
    code_.alu(k64, Operation::kAnd, Register::r1, int32_t(kRoundsMax - 1)); // for the verifier
    code_.alu(k64, Operation::kShiftLeft, Register::r1, kRoundShift);
    code_.store(8, kFrame, -8, Register::r2);
    code_.store(8, kFrame, -16, Register::r1);
    code_.load(8, bytes, Register::r2, kBuffer);
    add(bytes, Register::r1);
    code_.load(8, Register::r1, Register::r2, kCounts);
    code_.load(8, state, Register::r1, word(kSearchState));
    map_byte(Register::r8, placed.classes_byte);
    map_byte(Register::r9, placed.table_byte);
    for (uint32_t byte = 0; byte < kRoundBytes; ++byte) {
        const Label next = code_.new_label();
        step(byte, mask, state);
        code_.jump_if(k32, Condition::kLess, state, std::numeric_limits<int32_t>::min(), next);
        move(Register::r1, state);
        code_.load(8, Register::r2, kFrame, -16);
        add(Register::r2, int32_t(byte + 1));
        code_.load(8, shared, kFrame, -8);
        code_.call_function(found);
        code_.jump_if(k64, Condition::kNotEqual, Register::r0, 0, over);
        code_.bind(next);
    }
    code_.load(8, Register::r1, kFrame, -8);
    code_.load(8, Register::r1, Register::r1, kCounts);
    code_.store(8, Register::r1, word(kSearchState), state);
    leave(0);
    code_.bind(over);
    leave(1);
}

// The next state: a word of the table in r9, for the class of this byte, in r8.
void Writer::step(uint32_t byte, int32_t mask, Register state)
{
    code_.load(1, Register::r1, Register::r7, int16_t(byte));
    move(Register::r2, Register::r8);
    add(Register::r2, Register::r1);
    code_.load(1, Register::r1, Register::r2, 0);
    add(Register::r1, state);
    code_.alu(k64, Operation::kAnd, Register::r1, mask);
    code_.alu(k64, Operation::kShiftLeft, Register::r1, 2);
    move(Register::r2, Register::r9);
    add(Register::r2, Register::r1);
    code_.load(4, state, Register::r2, 0);
}

// (state in which texts end, position, Shared) -> 1 if there have been too many of them.
void Writer::write_found(const SearchSet::Placed &placed, Label function, Label output)
{
    const Register position = Register::r2, shared = Register::r3, counts = Register::r6,
                   row = Register::r7, number = Register::r8;
    const auto mask = int32_t(placed.automaton.table().size() - 1);
    const Label inside = code_.new_label(), enough = code_.new_label();
    const auto row_word = [&](uint32_t word) {
        return int16_t(sizeof(uint32_t) * (placed.automaton.class_count() + word));
    };
    code_.begin_function(function);
    code_.load(8, Register::r4, shared, kLength);
    code_.jump_if(k64, Condition::kLessOrEqual, position, Register::r4, inside);
    leave(0);
    code_.bind(inside);
    code_.load(8, counts, shared, kCounts);
    code_.alu(k64, Operation::kAnd, Register::r1, mask);
    code_.alu(k64, Operation::kShiftLeft, Register::r1, 2);
    map_byte(row, placed.table_byte);
    add(row, Register::r1);
    code_.load(4, Register::r4, row, row_word(0));
    code_.load(4, number, row, row_word(1));
    code_.load(8, Register::r1, counts, word(kOutputsLeft));
    code_.jump_if(k64, Condition::kGreaterOrEqual, Register::r1, number, enough);
    code_.store_constant(8, counts, word(kSearchEnd), kEndedEarly);
    leave(1);
    code_.bind(enough);
    code_.alu(k64, Operation::kSub, Register::r1, number);
    code_.store(8, counts, word(kOutputsLeft), Register::r1);
    code_.store(8, kFrame, kFirst - kFoundBytes, Register::r4);
    code_.store(8, kFrame, kPosition - kFoundBytes, position);
    code_.store(8, kFrame, kFoundCounts - kFoundBytes, counts);
    loop(number, output, kFoundBytes);
    leave(0);
}

// (number of the output, Found): sets its bit.
void Writer::write_output(const SearchSet::Placed &placed, Label function)
{
    const Register output = Register::r3, position = Register::r4, bit = Register::r5;
    const Label outside = code_.new_label();
    code_.begin_function(function);
    code_.load(8, Register::r3, Register::r2, kFirst);
    add(Register::r1, Register::r3);
    code_.alu(k64, Operation::kAnd, Register::r1,
              int32_t(placed.automaton.outputs().size() - 1)); // for the verifier
    code_.alu(k64, Operation::kMul, Register::r1, int32_t(sizeof(Output)));
    map_byte(output, placed.outputs_byte);
    add(output, Register::r1);
    code_.load(8, position, Register::r2, kPosition);
    code_.load(4, Register::r1, output, offsetof(Output, first_end));
    code_.jump_if(k64, Condition::kLess, position, Register::r1, outside);
    code_.load(4, Register::r1, output, offsetof(Output, last_end));
    code_.jump_if(k64, Condition::kGreater, position, Register::r1, outside);
    code_.load(4, bit, output, offsetof(Output, bit));
    code_.load(8, Register::r2, Register::r2, kFoundCounts);
    set_bit(Register::r2, word(kFoundBits), searches_.bit_words(), bit, Register::r1, Register::r3);
    code_.bind(outside);
    leave(0);
}
} // namespace

void emit_search(const ProgramTree &tree, const ProgramSetup &setup, match::EbpfCode &code,
                 match::EbpfCode::Label function)
{
    Writer writer(tree, setup, code);
    const auto &automata = tree.searches()->automata();
    std::vector<match::EbpfCode::Label> rounds;
    for (size_t i = 0; i < automata.size(); ++i)
        rounds.push_back(code.new_label());
    writer.write_search(function, rounds);
    for (size_t i = 0; i < rounds.size(); ++i) {
        const match::EbpfCode::Label found = code.new_label(), output = code.new_label();
        writer.write_round(automata[i], rounds[i], found);
        writer.write_found(automata[i], found, output);
        writer.write_output(automata[i], output);
    }
}
} // namespace mapi::drivers::xdp
