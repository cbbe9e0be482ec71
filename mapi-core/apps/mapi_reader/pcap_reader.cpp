// SPDX-License-Identifier: MIT
// pcap_reader: the two ways in which libpcap has read packets.
#include "mapi_reader/pcap_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace mapi_reader
{
namespace
{
constexpr int kSnapBytes = 65535, kLookMs = 20, kBufferBytes = 32 << 20;
constexpr size_t kCountersApart = 64;

// Counters of the reading thread, which another thread reads.
struct alignas(kCountersApart) Seen {
    std::atomic<uint64_t> packets = 0, matches = 0;

    void add(uint64_t found)
    {
        packets.store(packets.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        matches.store(matches.load(std::memory_order_relaxed) + found, std::memory_order_relaxed);
    }
};

[[noreturn]] void fail(const std::string &object)
{
    throw std::runtime_error(object + ": " + std::strerror(errno));
}

class ReadSocket : public Reader
{
public:
    ReadSocket(const std::string &interface, std::unique_ptr<PacketWork> work)
        : work_(std::move(work)), socket_(socket(AF_PACKET, SOCK_RAW, 0))
    {
        if (socket_ < 0)
            fail("packet socket");
        const timeval look = {0, kLookMs * 1000L};
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look));
        setsockopt(socket_, SOL_SOCKET, SO_RCVBUFFORCE, &kBufferBytes, sizeof(kBufferBytes));
        sockaddr_ll address = {};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(ETH_P_ALL);
        address.sll_ifindex = int(if_nametoindex(interface.c_str()));
        if (!address.sll_ifindex ||
            bind(socket_, reinterpret_cast<sockaddr *>(&address), sizeof(address)) < 0) {
            close(socket_);
            fail(interface);
        }
        reading_ = std::thread([this] { read(); });
    }
    ~ReadSocket() override
    {
        is_ending_ = true;
        reading_.join();
        close(socket_);
    }

    Counts counts() override
    {
        tpacket_stats stats = {}; // since the previous call
        socklen_t bytes = sizeof(stats);
        if (getsockopt(socket_, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) == 0)
            dropped_ += stats.tp_drops;
        return {seen_.packets, dropped_};
    }
    uint64_t matched() override { return seen_.matches; }
    std::string place() override { return "this program"; }

private:
    // recvfrom() and the time stamp's ioctl(): libpcap's two calls for a packet.
    void read()
    {
        std::array<uint8_t, kSnapBytes> packet;
        while (!is_ending_) {
            sockaddr_ll from = {};
            socklen_t bytes = sizeof(from);
            const ssize_t length = recvfrom(socket_, packet.data(), packet.size(), MSG_TRUNC,
                                            reinterpret_cast<sockaddr *>(&from), &bytes);
            if (length < 0)
                continue;
            pcap_pkthdr header = {};
            ioctl(socket_, SIOCGSTAMP, &header.ts);
            header.len = bpf_u_int32(length);
            header.caplen = std::min(header.len, bpf_u_int32(packet.size()));
            seen_.add(work_->matches(header, packet.data()));
        }
    }

    std::unique_ptr<PacketWork> work_;
    const int socket_;
    Seen seen_;
    uint64_t dropped_ = 0;
    std::atomic<bool> is_ending_ = false;
    std::thread reading_;
};

class Libpcap : public Reader
{
public:
    Libpcap(const std::string &interface, std::unique_ptr<PacketWork> work) : work_(std::move(work))
    {
        char error[PCAP_ERRBUF_SIZE] = "";
        handle_ = pcap_create(interface.c_str(), error);
        if (!handle_)
            throw std::runtime_error(interface + ": " + error);
        pcap_set_snaplen(handle_, kSnapBytes);
        pcap_set_timeout(handle_, kLookMs);
        pcap_set_buffer_size(handle_, kBufferBytes);
        pcap_set_promisc(handle_, 1);
        if (pcap_activate(handle_) < 0) {
            const std::string why = pcap_geterr(handle_);
            pcap_close(handle_);
            throw std::runtime_error(interface + ": " + why);
        }
        reading_ = std::thread([this] { read(); });
    }
    ~Libpcap() override
    {
        is_ending_ = true;
        pcap_breakloop(handle_);
        reading_.join();
        pcap_close(handle_);
    }

    Counts counts() override
    {
        pcap_stat stats = {};
        pcap_stats(handle_, &stats);
        return {seen_.packets, stats.ps_drop};
    }
    uint64_t matched() override { return seen_.matches; }
    std::string place() override { return "this program"; }

private:
    static void take(u_char *reader, const pcap_pkthdr *header, const u_char *packet)
    {
        auto *self = reinterpret_cast<Libpcap *>(reader);
        self->seen_.add(self->work_->matches(*header, packet));
    }
    void read()
    {
        while (!is_ending_ &&
               pcap_dispatch(handle_, -1, take, reinterpret_cast<u_char *>(this)) != PCAP_ERROR) {
        }
    }

    std::unique_ptr<PacketWork> work_;
    pcap_t *handle_ = nullptr;
    Seen seen_;
    std::atomic<bool> is_ending_ = false;
    std::thread reading_;
};
} // namespace

std::unique_ptr<Reader> read_packets(Method method, const std::string &interface,
                                     std::unique_ptr<PacketWork> work)
{
    if (method == Method::kRead)
        return std::make_unique<ReadSocket>(interface, std::move(work));
    return std::make_unique<Libpcap>(interface, std::move(work));
}
} // namespace mapi_reader
