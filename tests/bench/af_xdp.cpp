// SPDX-License-Identifier: MIT
// A program that redirects each packet to a socket of AF_XDP, and the socket: its memory (UMEM),
// divided into frames, and the two rings between it and the kernel: filled frames, and free ones.
#include "af_xdp.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <bpf/bpf.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <xdp/xsk.h>

#include "drivers/xdp/kernel_object.hpp"
#include "ipc/descriptor.hpp"
#include "match/bpf/native/ebpf_code.hpp"

namespace bench
{
namespace
{
using mapi::drivers::xdp::KernelRefusal;
using mapi::match::EbpfCode;
using mapi::match::EbpfCondition;
using mapi::match::EbpfHelper;
using mapi::match::EbpfOperation;
using Register = mapi::match::EbpfRegister;
constexpr auto k64 = mapi::match::EbpfWidth::k64;

constexpr uint32_t kFrameBytes = 2048; // the least that holds a packet of 1500 bytes
constexpr uint32_t kFrames = kWayBytes / kFrameBytes;
constexpr size_t kLargePageBytes = 1 << 21;
constexpr uint32_t kQueue = 0;
constexpr int16_t kMetadata = offsetof(xdp_md, data_meta);
constexpr int16_t kReceiveQueue = offsetof(xdp_md, rx_queue_index);

// Throws KernelRefusal if a call of libxdp or libbpf has failed: negative, as errno.
int checked(const char *what, int result)
{
    if (result < 0)
        throw KernelRefusal(std::string(what) + ": " + std::strerror(-result), -result);
    return result;
}

// Memory for the frames of one socket, in large pages if the kernel has some, and its rings.
class Frames
{
public:
    Frames() : memory_(std::aligned_alloc(kLargePageBytes, kWayBytes), std::free)
    {
        if (!memory_)
            throw KernelRefusal("memory for AF_XDP", ENOMEM);
        madvise(memory_.get(), kWayBytes, MADV_HUGEPAGE);
        std::memset(memory_.get(), 0, kWayBytes);
        const xsk_umem_config config = {.fill_size = kFrames,
                                        .comp_size = XSK_RING_CONS__DEFAULT_NUM_DESCS,
                                        .frame_size = kFrameBytes,
                                        .frame_headroom = 0,
                                        .flags = 0};
        checked("UMEM",
                xsk_umem__create(&umem_, memory_.get(), kWayBytes, &fill, &completion, &config));
    }
    ~Frames() { xsk_umem__delete(umem_); }
    Frames(const Frames &) = delete;
    Frames &operator=(const Frames &) = delete;

    xsk_umem *umem() const { return umem_; }
    const uint8_t *at(uint64_t offset) const
    {
        return static_cast<const uint8_t *>(memory_.get()) + offset;
    }

    xsk_ring_prod fill = {};
    xsk_ring_cons completion = {}; // of sent packets: there are none

private:
    const std::unique_ptr<void, decltype(&std::free)> memory_;
    xsk_umem *umem_ = nullptr;
};

// Returns 0 or -errno.
int open_socket(xsk_socket **socket, const std::string &interface, Frames &frames,
                xsk_ring_cons &filled, uint16_t mode)
{
    xsk_socket_config config = {};
    config.rx_size = kFrames;
    config.tx_size = 0;
    config.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD;
    config.bind_flags = uint16_t(mode | XDP_USE_NEED_WAKEUP);
    return xsk_socket__create(socket, interface.c_str(), kQueue, frames.umem(), &filled, nullptr,
                              &config);
}

// Writes the time in front of the packet, as its metadata.
void emit_time(EbpfCode &code, EbpfCode::Label none)
{
    code.alu(k64, EbpfOperation::kMove, Register::r2, -int32_t(sizeof(uint64_t)));
    code.call(EbpfHelper(BPF_FUNC_xdp_adjust_meta));
    code.jump_if(k64, EbpfCondition::kNotEqual, Register::r0, 0, none);
    code.call(EbpfHelper::kKtimeGetNs);
    code.load(4, Register::r7, Register::r6, kMetadata);
    code.load(4, Register::r3, Register::r6, mapi::match::kXdpData);
    code.alu(k64, EbpfOperation::kMove, Register::r2, Register::r7);
    code.alu(k64, EbpfOperation::kAdd, Register::r2, int32_t(sizeof(uint64_t)));
    code.jump_if(k64, EbpfCondition::kGreater, Register::r2, Register::r3, none);
    code.store(8, Register::r7, 0, Register::r0);
}

mapi::ipc::Descriptor load_redirect(int sockets, AfXdp::Time time)
{
    EbpfCode code;
    const EbpfCode::Label none = code.new_label();
    code.alu(k64, EbpfOperation::kMove, Register::r6, Register::r1);
    if (time == AfXdp::Time::kBeforePacket)
        emit_time(code, none);
    code.load(4, Register::r2, Register::r6, kReceiveQueue);
    code.map(Register::r1, sockets);
    code.alu(k64, EbpfOperation::kMove, Register::r3, mapi::match::kXdpDrop);
    code.call(EbpfHelper(BPF_FUNC_redirect_map));
    code.exit();
    if (time == AfXdp::Time::kBeforePacket) {
        code.bind(none);
        code.alu(k64, EbpfOperation::kMove, Register::r0, mapi::match::kXdpDrop);
        code.exit();
    }
    code.finish();
    return mapi::drivers::xdp::load_xdp_program("af_xdp_bench", code, false);
}
} // namespace

struct AfXdp::State {
    Frames frames;
    xsk_ring_cons filled = {};
    xsk_socket *socket = nullptr;
    mapi::ipc::Descriptor sockets, program;
    uint64_t wakeups = 0;

    ~State() { xsk_socket__delete(socket); }

    void free_all()
    {
        uint32_t first = 0;
        xsk_ring_prod__reserve(&frames.fill, kFrames, &first);
        for (uint32_t i = 0; i < kFrames; ++i)
            *xsk_ring_prod__fill_addr(&frames.fill, first + i) = uint64_t{i} * kFrameBytes;
        xsk_ring_prod__submit(&frames.fill, kFrames);
    }
    uint32_t take_batch(Taken &taken);
};

// Returns the number of packets.
uint32_t AfXdp::State::take_batch(Taken &taken)
{
    uint32_t first = 0, first_free = 0;
    const uint32_t count = xsk_ring_cons__peek(&filled, kBatch, &first);
    if (count == 0)
        return 0;
    // There is always room: as many descriptors as frames.
    xsk_ring_prod__reserve(&frames.fill, count, &first_free);
    for (uint32_t i = 0; i < count; ++i) {
        const xdp_desc *const packet = xsk_ring_cons__rx_desc(&filled, first + i);
        taken.add(frames.at(packet->addr), packet->len);
        *xsk_ring_prod__fill_addr(&frames.fill, first_free + i) = packet->addr;
    }
    xsk_ring_prod__submit(&frames.fill, count);
    xsk_ring_cons__release(&filled, count);
    if (xsk_ring_prod__needs_wakeup(&frames.fill)) {
        recvfrom(xsk_socket__fd(socket), nullptr, 0, MSG_DONTWAIT, nullptr, nullptr);
        ++wakeups;
    }
    return count;
}

AfXdp::AfXdp(const std::string &interface, Time time) : state_(std::make_unique<State>())
{
    checked("AF_XDP socket",
            open_socket(&state_->socket, interface, state_->frames, state_->filled, XDP_COPY));
    state_->sockets = mapi::ipc::Descriptor(bpf_map_create(
        BPF_MAP_TYPE_XSKMAP, "sockets", sizeof(uint32_t), sizeof(uint32_t), 1, nullptr));
    if (!state_->sockets.is_open())
        throw KernelRefusal("BPF_MAP_TYPE_XSKMAP", errno);
    checked("socket in BPF_MAP_TYPE_XSKMAP",
            xsk_socket__update_xskmap(state_->socket, state_->sockets.number()));
    state_->program = load_redirect(state_->sockets.number(), time);
    state_->free_all();
}

AfXdp::~AfXdp() = default;

Way AfXdp::way()
{
    return {state_->program.number(), [this](Taken &taken) {
                while (state_->take_batch(taken) > 0)
                    ;
            }};
}

AfXdp::Drops AfXdp::drops() const
{
    xdp_statistics statistics = {};
    socklen_t bytes = sizeof(statistics);
    if (getsockopt(xsk_socket__fd(state_->socket), SOL_XDP, XDP_STATISTICS, &statistics, &bytes) !=
        0)
        throw KernelRefusal("XDP_STATISTICS", errno);
    return {statistics.rx_dropped, statistics.rx_ring_full, statistics.rx_fill_ring_empty_descs,
            statistics.rx_invalid_descs};
}

uint64_t AfXdp::wakeups() const
{
    return state_->wakeups;
}

int AfXdp::zero_copy_error(const std::string &interface)
{
    Frames frames;
    xsk_ring_cons filled = {};
    xsk_socket *socket = nullptr;
    const int result = open_socket(&socket, interface, frames, filled, XDP_ZEROCOPY);
    if (result == 0)
        xsk_socket__delete(socket);
    return -result;
}
} // namespace bench
