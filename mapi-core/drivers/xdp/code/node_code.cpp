// SPDX-License-Identifier: MIT
// Steps other than filters -> eBPF.
#include "drivers/xdp/code/node_code.hpp"

namespace mapi::drivers::xdp
{
namespace
{
using Register = match::EbpfRegister;
using Operation = match::EbpfOperation;
using Condition = match::EbpfCondition;
using Helper = match::EbpfHelper;
using Label = match::EbpfCode::Label;
constexpr auto k64 = match::EbpfWidth::k64;

// One fetch-and-add gives each packet of all CPUs its own number.
void emit_periodic(uint64_t period, SharedWord word, match::EbpfCode &code, Label reject)
{
    code.map_value(Register::r2, word.map, word.byte_offset);
    code.alu(k64, Operation::kMove, Register::r1, 1);
    code.fetch_add(Register::r2, 0, Register::r1);
    code.alu(k64, Operation::kAdd, Register::r1, 1);
    code.constant(Register::r3, period);
    code.alu(k64, Operation::kModulo, Register::r1, Register::r3);
    code.jump_if(k64, Condition::kNotEqual, Register::r1, 0, reject);
}
} // namespace

void emit_sample(const mapi_offload_step &step, SharedWord word, match::EbpfCode &code,
                 Label reject)
{
    if (step.period > 0)
        return emit_periodic(step.period, word, code, reject);
    if (step.threshold >> 32) // all pass
        return;
    code.call(Helper::kGetPrandomU32);
    code.constant(Register::r1, step.threshold);
    code.jump_if(k64, Condition::kGreaterOrEqual, Register::r0, Register::r1, reject);
}

void emit_packet_time(Register counts, int16_t time_offset, match::EbpfCode &code)
{
    const Label is_known = code.new_label();
    code.load(8, Register::r0, counts, time_offset);
    code.jump_if(k64, Condition::kNotEqual, Register::r0, 0, is_known);
    code.call(Helper::kKtimeGetNs);
    code.store(8, counts, time_offset, Register::r0);
    code.bind(is_known);
}
} // namespace mapi::drivers::xdp
