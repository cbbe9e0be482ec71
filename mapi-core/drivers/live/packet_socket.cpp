// SPDX-License-Identifier: MIT
// Packet socket: TPACKET_V3; see packet(7) and Documentation/networking/packet_mmap.rst.
#include "drivers/live/packet_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/live/cooked_header.hpp"
#include "drivers/live/kernel_filter.hpp"
#include "drivers/live/live_source.hpp"
#include "links/link_type.hpp"

namespace mapi::drivers
{
namespace
{
constexpr uint32_t kBlockBytes = 1u << 20;

[[noreturn]] void fail(const std::string &interface, const std::string &what)
{
    const int number = errno;
    std::string text = interface + ": " + what + ": " + strerror(number);
    if (number == EPERM || number == EACCES)
        text += kCapturePrivilege;
    if (number == ENOMEM || number == ENOBUFS)
        text += " (try a smaller buffer_mb)";
    if (number == ENODEV)
        throw NoInterface(text);
    throw std::runtime_error(text);
}

void set(int descriptor, int name, int value, const std::string &interface, const char *what)
{
    if (setsockopt(descriptor, SOL_PACKET, name, &value, sizeof(value)) < 0)
        fail(interface, what);
}

uint16_t link_type_of(int hardware, const std::string &interface)
{
    switch (hardware) {
    case ARPHRD_ETHER:
    case ARPHRD_LOOPBACK: return links::kEthernet;
    case ARPHRD_NONE:
    case ARPHRD_RAWIP:
    case ARPHRD_TUNNEL:
    case ARPHRD_TUNNEL6:
    case ARPHRD_SIT: return links::kRaw;
    default:
        throw std::runtime_error(
            interface + ": its link type, ARPHRD " + std::to_string(hardware) +
            ", is neither Ethernet nor raw IP (driver=pcap_live reads others)");
    }
}
} // namespace

PacketSocket::Descriptor::~Descriptor()
{
    if (value >= 0)
        close(value);
}

PacketSocket::Ring::~Ring()
{
    if (memory)
        munmap(memory, bytes);
}

PacketSocket::PacketSocket(const std::string &interface, const PacketSocketOptions &options,
                           std::optional<uint16_t> link_type)
    : interface_(interface), options_(options), takes_all_(interface == kAllInterfaces)
{
    open();
    if (link_type && *link_type != link_type_)
        throw std::runtime_error(interface_ +
                                 ": the interface returned with a different link type");
    map();
    set_filter(nullptr, 0);
}

// Protocol 0: no packet arrives before the socket is bound to its interface.
void PacketSocket::open()
{
    descriptor_.value = socket(AF_PACKET, (takes_all_ ? SOCK_DGRAM : SOCK_RAW) | SOCK_CLOEXEC, 0);
    if (descriptor_.value < 0)
        fail(interface_, "cannot open a packet socket");
    link_type_ = kCookedLinkType;
    if (!takes_all_)
        find_interface();
}

void PacketSocket::find_interface()
{
    ifreq request = {};
    if (interface_.size() >= sizeof(request.ifr_name)) {
        errno = ENODEV;
        fail(interface_, "cannot find the interface");
    }
    memcpy(request.ifr_name, interface_.c_str(), interface_.size() + 1);
    if (ioctl(descriptor_.value, SIOCGIFINDEX, &request) < 0)
        fail(interface_, "cannot find the interface");
    interface_index_ = request.ifr_ifindex;
    if (ioctl(descriptor_.value, SIOCGIFHWADDR, &request) < 0)
        fail(interface_, "cannot read its link type");
    link_type_ = link_type_of(request.ifr_hwaddr.sa_family, interface_);
}

void PacketSocket::map()
{
    set(descriptor_.value, PACKET_VERSION, TPACKET_V3, interface_, "cannot use TPACKET_V3");
    set(descriptor_.value, PACKET_RESERVE, int(takes_all_ ? sizeof(CookedHeader) : kVlanTagBytes),
        interface_, "cannot reserve room for headers");
    blocks_ = uint32_t(std::max<uint64_t>(options_.buffer_bytes / kBlockBytes, 2));
    tpacket_req3 request = {};
    request.tp_block_size = kBlockBytes;
    request.tp_block_nr = blocks_;
    request.tp_frame_size = kBlockBytes; // only for the kernel's checks in version 3
    request.tp_frame_nr = blocks_;
    request.tp_retire_blk_tov = unsigned(options_.block_timeout_ms);
    if (setsockopt(descriptor_.value, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)) < 0)
        fail(interface_, "cannot allocate a buffer of " + std::to_string(blocks_) + " MiB");
    ring_.bytes = size_t(blocks_) * kBlockBytes;
    void *memory =
        mmap(nullptr, ring_.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.value, 0);
    if (memory == MAP_FAILED)
        fail(interface_, "cannot map the buffer");
    ring_.memory = static_cast<uint8_t *>(memory);
}

// Before the group is joined, a filter drops all packets: most belong to other members of the
// group.
bool PacketSocket::bind()
{
    sockaddr_ll address = {};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = interface_index_;
    // On the loopback interface each packet comes twice, out and in.
    if (!options_.takes_outgoing || interface_ == "lo")
        set(descriptor_.value, PACKET_IGNORE_OUTGOING, 1, interface_,
            "cannot ignore outgoing packets");
    if (options_.is_promiscuous && !takes_all_) {
        packet_mreq request = {};
        request.mr_ifindex = interface_index_;
        request.mr_type = PACKET_MR_PROMISC;
        if (setsockopt(descriptor_.value, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request,
                       sizeof(request)) < 0)
            fail(interface_, "cannot enter promiscuous mode");
    }
    if (options_.fanout_group)
        attach({{BPF_RET | BPF_K, 0, 0, 0}});
    if (::bind(descriptor_.value, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) <
        0)
        fail(interface_, "cannot bind to the interface");
    if (options_.fanout_group) { // by flow: the same core gets both directions
        set(descriptor_.value, PACKET_FANOUT, options_.fanout_group | PACKET_FANOUT_HASH << 16,
            interface_, "cannot join the fan-out group");
        attach(filter_);
    }
    int error = 0;
    socklen_t bytes = sizeof(error);
    getsockopt(descriptor_.value, SOL_SOCKET, SO_ERROR, &error, &bytes); // clears it
    return error != ENETDOWN;
}

bool has_lost_interface(int descriptor)
{
    sockaddr_ll address = {};
    socklen_t bytes = sizeof(address);
    return getsockname(descriptor, reinterpret_cast<sockaddr *>(&address), &bytes) == 0 &&
           address.sll_family == AF_PACKET && address.sll_ifindex == -1;
}

bool PacketSocket::is_dead() const
{
    return has_lost_interface(descriptor_.value);
}

tpacket_block_desc *PacketSocket::block() const
{
    auto *block =
        reinterpret_cast<tpacket_block_desc *>(ring_.memory + size_t(next_) * kBlockBytes);
    const uint32_t status = __atomic_load_n(&block->hdr.bh1.block_status, __ATOMIC_ACQUIRE);
    return status & TP_STATUS_USER ? block : nullptr;
}

void PacketSocket::release(tpacket_block_desc *block)
{
    __atomic_store_n(&block->hdr.bh1.block_status, uint32_t(TP_STATUS_KERNEL), __ATOMIC_RELEASE);
    next_ = next_ + 1 == blocks_ ? 0 : next_ + 1;
}

uint64_t PacketSocket::take_drops()
{
    tpacket_stats_v3 stats = {};
    socklen_t bytes = sizeof(stats);
    return getsockopt(descriptor_.value, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) < 0
               ? 0
               : stats.tp_drops;
}

bool PacketSocket::set_filter(const mapi_filter_code *code, uint32_t count)
{
    const auto most_bytes = uint32_t(options_.snaplen);
    filter_ = takes_all_
                  ? std::vector<sock_filter>()
                  : kernel_filter(code, count, most_bytes); // with all interfaces, packets have no
                                                            // cooked header yet in the kernel
    const bool is_taken = !filter_.empty();
    if (!is_taken)
        filter_ = pass_all(most_bytes);
    attach(filter_);
    return is_taken;
}

void PacketSocket::attach(const std::vector<sock_filter> &program)
{
    const sock_fprog filter = {uint16_t(program.size()), const_cast<sock_filter *>(program.data())};
    const int unused = 0;
    if (setsockopt(descriptor_.value, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) < 0)
        setsockopt(descriptor_.value, SOL_SOCKET, SO_DETACH_FILTER, &unused,
                   sizeof(unused)); // out of memory: receive all packets
}
} // namespace mapi::drivers
