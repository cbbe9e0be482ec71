// SPDX-License-Identifier: MIT
// A program that copies each packet into the kernel's ring buffer, behind a head with its time.
#include "kernel_ring.hpp"

#include <cerrno>
#include <cstddef>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "drivers/xdp/kernel_object.hpp"
#include "drivers/xdp/layout.hpp"
#include "ipc/descriptor.hpp"
#include "match/bpf/native/ebpf_code.hpp"

namespace bench
{
using mapi::drivers::xdp::KernelRefusal;
using mapi::match::EbpfCode;
using mapi::match::EbpfCondition;
using mapi::match::EbpfHelper;
using mapi::match::EbpfOperation;
using Register = mapi::match::EbpfRegister;
constexpr auto k64 = mapi::match::EbpfWidth::k64;

struct KernelRing::State {
    mapi::ipc::Descriptor map, program;
    ring_buffer *ring = nullptr;
};

KernelRing::KernelRing(uint32_t packet_bytes) : state_(std::make_unique<State>())
{
    state_->map = mapi::ipc::Descriptor(
        bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, kRingBytes, nullptr));
    if (!state_->map.is_open())
        throw KernelRefusal("BPF_MAP_TYPE_RINGBUF", errno);
    state_->ring = ring_buffer__new(
        state_->map.number(), [](void *, void *, size_t) { return 0; }, nullptr, nullptr);
    EbpfCode code;
    const EbpfCode::Label is_full = code.new_label();
    constexpr auto kHeadBytes = int32_t(sizeof(mapi::drivers::xdp::PacketRecord));
    const auto number = int32_t(packet_bytes);
    code.alu(k64, EbpfOperation::kMove, Register::r6, Register::r1);
    code.map(Register::r1, state_->map.number());
    code.alu(k64, EbpfOperation::kMove, Register::r2, kHeadBytes + number);
    code.alu(k64, EbpfOperation::kMove, Register::r3, 0);
    code.call(EbpfHelper(BPF_FUNC_ringbuf_reserve));
    code.jump_if(k64, EbpfCondition::kEqual, Register::r0, 0, is_full);
    code.alu(k64, EbpfOperation::kMove, Register::r7, Register::r0);
    code.call(EbpfHelper::kKtimeGetNs);
    code.store(8, Register::r7, offsetof(mapi::drivers::xdp::PacketRecord, time_ns), Register::r0);
    code.store_constant(4, Register::r7, offsetof(mapi::drivers::xdp::PacketRecord, caplen),
                        number);
    code.alu(k64, EbpfOperation::kMove, Register::r1, Register::r6);
    code.alu(k64, EbpfOperation::kMove, Register::r2, 0);
    code.alu(k64, EbpfOperation::kMove, Register::r3, Register::r7);
    code.alu(k64, EbpfOperation::kAdd, Register::r3, kHeadBytes);
    code.alu(k64, EbpfOperation::kMove, Register::r4, number);
    code.call(EbpfHelper(BPF_FUNC_xdp_load_bytes));
    code.alu(k64, EbpfOperation::kMove, Register::r1, Register::r7);
    code.alu(k64, EbpfOperation::kMove, Register::r2, BPF_RB_NO_WAKEUP);
    code.call(EbpfHelper(BPF_FUNC_ringbuf_submit));
    code.bind(is_full);
    code.alu(k64, EbpfOperation::kMove, Register::r0, mapi::match::kXdpPass);
    code.exit();
    code.finish();
    state_->program = mapi::drivers::xdp::load_xdp_program("ring_bench", code, false);
}

KernelRing::~KernelRing()
{
    ring_buffer__free(state_->ring);
}

Way KernelRing::way() const
{
    return {state_->program.number(), [this] { ring_buffer__consume(state_->ring); }};
}
} // namespace bench
