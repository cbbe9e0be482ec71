// SPDX-License-Identifier: MIT
// A filter -> eBPF that runs in the evaluator, without the kernel.
#pragma once

#include <mapi/packet.h>

#include "match/bpf/native/bpf_emit_ebpf.hpp"
#include "support/ebpf_evaluator.hpp"

namespace test_support
{
class FilterCode
{
public:
    // Throws FilterError.
    FilterCode(mapi::match::BpfSteps steps, mapi::match::EbpfBytes bytes) : bytes_(bytes)
    {
        using namespace mapi::match;
        const EbpfPlaces places = {bytes, code_.new_label(), code_.new_label()};
        emit_ebpf_filter(steps, code_, places);
        end(places.accept, 1);
        end(places.reject, 0);
        code_.finish();
    }

    // Throws EbpfFault.
    bool accepts(const mapi_packet &packet) const
    {
        using Register = mapi::match::EbpfRegister;
        EbpfEvaluator evaluator(code_.instructions(), {packet.data, packet.caplen});
        evaluator.set(Register::r7, EbpfEvaluator::kPacketAddress);
        evaluator.set(Register::r8, bytes_ == mapi::match::EbpfBytes::kPacket
                                        ? EbpfEvaluator::kPacketAddress + packet.caplen
                                        : packet.caplen);
        evaluator.set_frame_word(mapi::match::kEbpfWireBytes, packet.wire_len);
        return evaluator.run() != 0;
    }

private:
    void end(mapi::match::EbpfCode::Label label, int32_t result)
    {
        using namespace mapi::match;
        code_.bind(label);
        code_.alu(EbpfWidth::k64, EbpfOperation::kMove, EbpfRegister::r0, result);
        code_.exit();
    }

    mapi::match::EbpfBytes bytes_;
    mapi::match::EbpfCode code_;
};
} // namespace test_support
