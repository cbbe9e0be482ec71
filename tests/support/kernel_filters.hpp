// SPDX-License-Identifier: MIT
// Filters in one XDP program that runs on given bytes, without an interface.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "drivers/xdp/kernel_object.hpp"
#include "match/bpf/bpf_step.hpp"
#include "match/bpf/native/bpf_emit_ebpf.hpp"

namespace test_support
{
class KernelFilters
{
public:
    // Throws KernelRefusal or FilterError.
    KernelFilters(const std::vector<mapi::match::BpfSteps> &filters, mapi::match::EbpfBytes bytes)
        : bytes_(bytes), filters_(filters.size()),
          shared_("verdicts", (kVerdicts + words()) * 8 + mapi::match::kEbpfBufferBytes)
    {
        using namespace mapi::match;
        using Register = EbpfRegister;
        EbpfCode code;
        const bool is_packet = bytes == EbpfBytes::kPacket;
        if (is_packet) {
            code.load(4, Register::r7, Register::r1, 0); // xdp_md: data, data_end
            code.load(4, Register::r8, Register::r1, 4);
        }
        code.map_value(Register::r9, shared_.descriptor(), 0);
        code.load(8, Register::r1, Register::r9, 8 * kWireBytes);
        code.store(4, Register::r10, kEbpfWireBytes, Register::r1);
        if (!is_packet) {
            code.map_value(Register::r7, shared_.descriptor(), buffer_offset());
            code.load(8, Register::r8, Register::r9, 8 * kBytes);
        }
        for (size_t at = 0; at < filters.size(); ++at) {
            const EbpfPlaces places = {bytes, code.new_label(), code.new_label()};
            emit_ebpf_filter(filters[at], code, places);
            code.bind(places.accept);
            code.alu(EbpfWidth::k64, EbpfOperation::kMove, Register::r1, 1);
            code.alu(EbpfWidth::k64, EbpfOperation::kShiftLeft, Register::r1, int32_t(at % 64));
            const auto word = int16_t(8 * (kVerdicts + at / 64));
            code.load(8, Register::r2, Register::r9, word);
            code.alu(EbpfWidth::k64, EbpfOperation::kOr, Register::r2, Register::r1);
            code.store(8, Register::r9, word, Register::r2);
            code.bind(places.reject);
        }
        code.alu(EbpfWidth::k64, EbpfOperation::kMove, Register::r0, 2); // XDP_PASS
        code.exit();
        code.finish();
        program_ = mapi::drivers::xdp::load_xdp_program("filters", code, false);
    }

    // One bit for each filter, as whole words.
    std::span<const uint64_t> run(std::span<const uint8_t> packet, uint32_t wire_bytes)
    {
        const std::span<uint64_t> all = shared_.words();
        all[kWireBytes] = wire_bytes;
        all[kBytes] = packet.size();
        const std::span<uint64_t> verdicts = all.subspan(kVerdicts, words());
        std::fill(verdicts.begin(), verdicts.end(), 0);
        static constexpr uint8_t kAnyPacket[64] = {};
        if (bytes_ == mapi::match::EbpfBytes::kBuffer && !packet.empty())
            std::copy(packet.begin(), packet.end(),
                      reinterpret_cast<uint8_t *>(all.data()) + buffer_offset());
        mapi::drivers::xdp::test_run(
            program_.number(), bytes_ == mapi::match::EbpfBytes::kBuffer ? kAnyPacket : packet);
        return verdicts;
    }

private:
    static constexpr size_t kWireBytes = 0, kBytes = 1, kVerdicts = 2; // words
    size_t words() const { return (filters_ + 63) / 64; }
    uint32_t buffer_offset() const { return uint32_t((kVerdicts + words()) * 8); }

    mapi::match::EbpfBytes bytes_;
    size_t filters_;
    mapi::drivers::xdp::SharedArray shared_;
    mapi::ipc::Descriptor program_;
};
} // namespace test_support
