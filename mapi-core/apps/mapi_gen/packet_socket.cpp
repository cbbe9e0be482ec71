// SPDX-License-Identifier: MIT
// packet_socket: work -> packets through an AF_PACKET socket, past the queueing discipline.
#include "packet_socket.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "ipc/descriptor.hpp"

namespace mapi_gen
{
namespace
{
constexpr size_t kBatch = 64;
constexpr int kBufferBytes = 4 << 20;
constexpr timeval kSendTimeout = {0, 100'000}; // so that stop() is seen if the card is stuck
constexpr uint64_t kAfterRefusalNs = 50'000;   // a full transmit ring has room again
constexpr unsigned long kTimerSlackNs = 1000;  // 50 us otherwise

class PacketSocket : public Sender
{
public:
    explicit PacketSocket(const Work &work)
        : work_(work), socket_(open_sending(work.interface)), pace_(work.offset),
          variants_(work.packets.variants()), variant_(work.first % variants_)
    {
        const Packets &packets = work.packets;
        if (packets.source_ports > 1) {
            sum_ = sum_without_port(packets.packet(0));
            for (auto &frame : frames_)
                frame.assign(packets.packet(0).begin(), packets.packet(0).end());
        }
        for (size_t i = 0; i < kBatch; ++i) {
            messages_[i].msg_hdr.msg_iov = &parts_[i];
            messages_[i].msg_hdr.msg_iovlen = 1;
        }
    }

    void run(uint64_t start_ns) override;
    void stop() override { is_stopped_ = true; }
    bool is_over() const override { return false; } // run() sees stop() by itself
    Counts counts() const override
    {
        return {sent_, bytes_, refused_, packets_in(given_up_, work_), error_};
    }
    uint64_t first_ns() const override { return first_ns_; }
    uint64_t last_ns() const override { return last_ns_; }

private:
    size_t take_due();
    void set_message(size_t i, uint64_t variant);
    void send(size_t count);
    Ticks cost(uint64_t variant) const
    {
        const size_t place = work_.packets.is_generated ? 0 : variant;
        return cost_of(work_.rate, wire_bytes(work_.packets.places[place].bytes), work_.threads);
    }

    const Work work_;
    mapi::ipc::Descriptor socket_;
    Pace pace_;
    const uint64_t variants_;
    uint64_t variant_; // of the next packet
    uint64_t start_ns_ = 0;
    uint32_t sum_ = 0;
    std::vector<uint8_t> frames_[kBatch]; // if the source ports differ
    iovec parts_[kBatch] = {};
    mmsghdr messages_[kBatch] = {};

    std::atomic<bool> is_stopped_ = false;
    std::atomic<uint64_t> sent_ = 0, bytes_ = 0, refused_ = 0, first_ns_ = 0, last_ns_ = 0;
    std::atomic<Ticks> given_up_ = 0;
    std::atomic<int> error_ = 0;
};

void PacketSocket::set_message(size_t i, uint64_t variant)
{
    const Packets &packets = work_.packets;
    std::span<const uint8_t> packet;
    if (packets.source_ports > 1) {
        set_source_port(frames_[i], sum_, uint16_t(kFirstSourcePort + variant));
        packet = frames_[i];
    } else {
        packet = packets.packet(packets.is_generated ? 0 : variant);
    }
    // sendmmsg() only reads it
    parts_[i] = {const_cast<uint8_t *>(packet.data()), packet.size()};
}

// How many of the prepared packets may leave now; sleeps if none.
size_t PacketSocket::take_due()
{
    const size_t most = size_t(std::min<uint64_t>(kBatch, work_.share - sent_));
    if (!work_.rate.is_given())
        return most;
    const Ticks now = since(start_ns_);
    size_t count = 0;
    for (uint64_t variant = variant_; count < most && now > 0 && pace_.due() <= now; ++count) {
        pace_.take(now, cost(variant));
        variant = (variant + work_.step) % variants_;
    }
    given_up_ = pace_.given_up();
    if (count == 0)
        sleep_until(start_ns_ + (pace_.due() >> kTickShift) + 1);
    return count;
}

void PacketSocket::send(size_t count)
{
    uint64_t variant = variant_;
    for (size_t i = 0; i < count; ++i, variant = (variant + work_.step) % variants_)
        set_message(i, variant);
    const int result = sendmmsg(socket_.number(), messages_, unsigned(count), 0);
    const size_t taken = result > 0 ? size_t(result) : 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < taken; ++i, variant_ = (variant_ + work_.step) % variants_)
        bytes += wire_bytes(parts_[i].iov_len);
    sent_ += taken;
    bytes_ += bytes;
    if (taken == count)
        return;
    // The packet after those that were taken was refused; its errno is lost if others were taken.
    // It is sent again.
    ++refused_;
    if (result < 0) {
        error_ = errno;
        sleep_until(now_ns() + kAfterRefusalNs);
    }
}

void PacketSocket::run(uint64_t start_ns)
{
    start_ns_ = start_ns;
    prctl(PR_SET_TIMERSLACK, kTimerSlackNs, 0, 0, 0);
    first_ns_ = work_.rate.is_given() ? start_ns_ : now_ns();
    while (!is_stopped_ && sent_ < work_.share)
        if (const size_t count = take_due(); count > 0)
            send(count);
    if (sent_ >= work_.share)
        last_ns_ = now_ns();
}
} // namespace

mapi::ipc::Descriptor open_sending(const Interface &interface)
{
    // protocol 0: receives nothing
    mapi::ipc::Descriptor made(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
    if (!made.is_open()) {
        const int number = errno;
        throw Refusal(fmt::format("{}: AF_PACKET socket: {}{}", interface.name,
                                  std::strerror(number),
                                  number == EPERM ? " (requires the capability CAP_NET_RAW: run "
                                                    "as root, or setcap cap_net_raw+ep)"
                                                  : ""));
    }
    sockaddr_ll address = {};
    address.sll_family = AF_PACKET;
    address.sll_ifindex = interface.index;
    if (bind(made.number(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0)
        throw Refusal(
            fmt::format("{}: AF_PACKET socket: bind: {}", interface.name, std::strerror(errno)));
    const int on = 1;
    if (setsockopt(made.number(), SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)) != 0)
        throw Refusal(
            fmt::format("{}: PACKET_QDISC_BYPASS: {}", interface.name, std::strerror(errno)));
    // without them it still sends, only slower or with a later end
    setsockopt(made.number(), SOL_SOCKET, SO_SNDBUF, &kBufferBytes, sizeof(kBufferBytes));
    setsockopt(made.number(), SOL_SOCKET, SO_SNDTIMEO, &kSendTimeout, sizeof(kSendTimeout));
    return made;
}

std::unique_ptr<Sender> make_packet_socket(const Work &work)
{
    return std::make_unique<PacketSocket>(work);
}
} // namespace mapi_gen
