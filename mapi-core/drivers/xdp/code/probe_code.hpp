// SPDX-License-Identifier: MIT
// Stages of a program -> its probes: each loads the bits of its site, and if they are not 0, calls
// a function of the program that writes a record.
#pragma once

#include "drivers/xdp/code/code_writer.hpp"
#include "drivers/xdp/code/program_code.hpp"
#include "drivers/xdp/probe_maps.hpp"

namespace mapi::drivers::xdp
{
#ifdef NETSLICE_DISABLE
class ProbeCode
{
public:
    ProbeCode(const ProgramSetup &, match::EbpfCode &) {}
    void init(match::EbpfRegister, match::EbpfRegister) {}
    void emit(Stage, Edge, match::EbpfRegister) {}
    void write_functions() {}
};
#else
// Without maps in the setup, nothing is emitted.
class ProbeCode : private CodeWriter
{
public:
    ProbeCode(const ProgramSetup &setup, match::EbpfCode &code)
        : CodeWriter(setup.direction, code), maps_(setup.probes), slice_(code.new_label()),
          unit_(code.new_label())
    {
    }

    // The unit begins: a packet whose length is in kEbpfWireBytes of the frame; it stays in r0.
    // Changes r1 to r5.  counts: of this CPU, whose number of packets is the unit's.
    void init(Register context, Register counts);
    // Any other probe.  Changes r0 to r5.
    void emit(Stage stage, Edge edge, Register context);
    // Appends the functions that the probes call.
    void write_functions();

private:
    static constexpr Register kBits = Register::r6, kRing = Register::r7, kHead = Register::r8,
                              kTries = Register::r9;

    void jump_if_off(uint32_t site, Label to);
    void write_function(Label function, uint32_t words);
    void find_thread();
    void find_ring(Label none);
    void claim(uint32_t words, Label none);
    void lose(uint32_t cause);
    void point_at(uint32_t number, Register place);
    void store_word(uint32_t number, Register from);
    void publish();

    const ProbeMaps *const maps_;
    const Label slice_; // (context, bits)
    const Label unit_;  // (context, bits, number, wire bytes)
};
#endif
} // namespace mapi::drivers::xdp
