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

using mapi::drivers::xdp::PacketRecord;
using mapi::drivers::xdp::SharedArray;

struct KernelRing::State {
    mapi::ipc::Descriptor map, program;
    SharedArray full{"ring_full", sizeof(uint64_t)}; // number of packets that found no room
    ring_buffer *ring = nullptr;
    Taken *taken = nullptr; // while it is read

    static int add(void *state, void *data, size_t)
    {
        const auto *record = static_cast<const PacketRecord *>(data);
        static_cast<State *>(state)->taken->add(reinterpret_cast<const uint8_t *>(record + 1),
                                                record->caplen);
        return 0;
    }
    void load(uint32_t packet_bytes, bool drops);
};

void KernelRing::State::load(uint32_t packet_bytes, bool drops)
{
    EbpfCode code;
    const EbpfCode::Label is_full = code.new_label(), end = code.new_label();
    constexpr auto kHeadBytes = int32_t(sizeof(PacketRecord));
    const auto number = int32_t(packet_bytes);
    code.alu(k64, EbpfOperation::kMove, Register::r6, Register::r1);
    code.map(Register::r1, map.number());
    code.alu(k64, EbpfOperation::kMove, Register::r2, kHeadBytes + number);
    code.alu(k64, EbpfOperation::kMove, Register::r3, 0);
    code.call(EbpfHelper(BPF_FUNC_ringbuf_reserve));
    code.jump_if(k64, EbpfCondition::kEqual, Register::r0, 0, is_full);
    code.alu(k64, EbpfOperation::kMove, Register::r7, Register::r0);
    code.call(EbpfHelper::kKtimeGetNs);
    code.store(8, Register::r7, offsetof(PacketRecord, time_ns), Register::r0);
    code.store_constant(4, Register::r7, offsetof(PacketRecord, caplen), number);
    code.alu(k64, EbpfOperation::kMove, Register::r1, Register::r6);
    code.alu(k64, EbpfOperation::kMove, Register::r2, 0);
    code.alu(k64, EbpfOperation::kMove, Register::r3, Register::r7);
    code.alu(k64, EbpfOperation::kAdd, Register::r3, kHeadBytes);
    code.alu(k64, EbpfOperation::kMove, Register::r4, number);
    code.call(EbpfHelper(BPF_FUNC_xdp_load_bytes));
    code.alu(k64, EbpfOperation::kMove, Register::r1, Register::r7);
    code.alu(k64, EbpfOperation::kMove, Register::r2, BPF_RB_NO_WAKEUP);
    code.call(EbpfHelper(BPF_FUNC_ringbuf_submit));
    code.jump(end);
    code.bind(is_full);
    code.map_value(Register::r1, full.descriptor(), 0);
    code.alu(k64, EbpfOperation::kMove, Register::r2, 1);
    code.fetch_add(Register::r1, 0, Register::r2);
    code.bind(end);
    code.alu(k64, EbpfOperation::kMove, Register::r0,
             drops ? mapi::match::kXdpDrop : mapi::match::kXdpPass);
    code.exit();
    code.finish();
    program = mapi::drivers::xdp::load_xdp_program("ring_bench", code, false);
}

KernelRing::KernelRing(uint32_t packet_bytes, bool drops) : state_(std::make_unique<State>())
{
    state_->map = mapi::ipc::Descriptor(
        bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, kWayBytes, nullptr));
    if (!state_->map.is_open())
        throw KernelRefusal("BPF_MAP_TYPE_RINGBUF", errno);
    state_->ring = ring_buffer__new(state_->map.number(), State::add, state_.get(), nullptr);
    if (!state_->ring)
        throw KernelRefusal("memory of BPF_MAP_TYPE_RINGBUF", errno);
    state_->load(packet_bytes, drops);
}

KernelRing::~KernelRing()
{
    ring_buffer__free(state_->ring);
}

Way KernelRing::way() const
{
    return {state_->program.number(), [this](Taken &taken) {
                state_->taken = &taken;
                ring_buffer__consume(state_->ring);
            }};
}

uint64_t KernelRing::drops() const
{
    return __atomic_load_n(state_->full.words().data(), __ATOMIC_RELAXED);
}
} // namespace bench
