// SPDX-License-Identifier: MIT
// Packet socket: TPACKET_V3.  Facts: packet(7), Documentation/networking/packet_mmap.rst.
#include "drivers/packet_socket.hpp"

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

namespace mapi::drivers
{
namespace
{
constexpr uint32_t kBlockBytes = 1u << 20;
constexpr uint16_t kEthernet = 1, kRaw = 101;
constexpr uint32_t kAllBytes = 262144;

[[noreturn]] void fail(const std::string &interface, const std::string &what)
{
    const int number = errno;
    std::string text = interface + ": " + what + ": " + strerror(number);
    if (number == EPERM || number == EACCES)
        text += "; capturing needs CAP_NET_RAW: run as root, or give the program the right with setcap cap_net_raw+ep PROGRAM";
    if (number == ENOMEM || number == ENOBUFS)
        text += "; a smaller buffer_mb may find room";
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
    case ARPHRD_LOOPBACK:
        return kEthernet;
    case ARPHRD_NONE:
    case ARPHRD_RAWIP:
    case ARPHRD_TUNNEL:
    case ARPHRD_TUNNEL6:
    case ARPHRD_SIT:
        return kRaw;
    default:
        throw std::runtime_error(interface + ": its link type (ARPHRD " + std::to_string(hardware) + ") is not one of af_packet; use driver=pcap_live");
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

PacketSocket::PacketSocket(const std::string &interface, const PacketSocketOptions &options) : options_(options)
{
    open(interface);
    map(interface);
    bind_to(interface);
}

// Protocol 0: nothing comes before it is bound to its interface.
void PacketSocket::open(const std::string &interface)
{
    descriptor_.value = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (descriptor_.value < 0)
        fail(interface, "a packet socket");
    ifreq request = {};
    if (interface.size() >= sizeof(request.ifr_name)) {
        errno = ENODEV;
        fail(interface, "the interface");
    }
    memcpy(request.ifr_name, interface.c_str(), interface.size() + 1);
    if (ioctl(descriptor_.value, SIOCGIFINDEX, &request) < 0)
        fail(interface, "the interface");
    interface_index_ = request.ifr_ifindex;
    if (ioctl(descriptor_.value, SIOCGIFHWADDR, &request) < 0)
        fail(interface, "its link type");
    link_type_ = link_type_of(request.ifr_hwaddr.sa_family, interface);
}

void PacketSocket::map(const std::string &interface)
{
    set(descriptor_.value, PACKET_VERSION, TPACKET_V3, interface, "TPACKET_V3");
    set(descriptor_.value, PACKET_RESERVE, int(kVlanTagBytes), interface, "room for VLAN tags");
    blocks_ = uint32_t(std::max<uint64_t>(options_.buffer_bytes / kBlockBytes, 2));
    tpacket_req3 request = {};
    request.tp_block_size = kBlockBytes;
    request.tp_block_nr = blocks_;
    request.tp_frame_size = kBlockBytes; // of no meaning in version 3 but for the kernel's checks
    request.tp_frame_nr = blocks_;
    request.tp_retire_blk_tov = unsigned(options_.block_timeout_ms);
    if (setsockopt(descriptor_.value, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)) < 0)
        fail(interface, "a buffer of " + std::to_string(blocks_) + " MiB");
    ring_.bytes = size_t(blocks_) * kBlockBytes;
    void *memory = mmap(nullptr, ring_.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.value, 0);
    if (memory == MAP_FAILED)
        fail(interface, "mapping the buffer");
    ring_.memory = static_cast<uint8_t *>(memory);
}

void PacketSocket::bind_to(const std::string &interface)
{
    if (!options_.takes_outgoing)
        set(descriptor_.value, PACKET_IGNORE_OUTGOING, 1, interface, "leaving out outgoing packets");
    sockaddr_ll address = {};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = interface_index_;
    if (options_.is_promiscuous) {
        packet_mreq request = {};
        request.mr_ifindex = interface_index_;
        request.mr_type = PACKET_MR_PROMISC;
        if (setsockopt(descriptor_.value, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof(request)) < 0)
            fail(interface, "promiscuous mode");
    }
    set_filter(nullptr, 0);
    if (bind(descriptor_.value, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) < 0)
        fail(interface, "binding to it");
    if (options_.fanout_group) // of a flow: the same core sees both directions
        set(descriptor_.value, PACKET_FANOUT, options_.fanout_group | (PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_DEFRAG) << 16, interface, "joining the fan-out group");
}

tpacket_block_desc *PacketSocket::block() const
{
    auto *block = reinterpret_cast<tpacket_block_desc *>(ring_.memory + size_t(next_) * kBlockBytes);
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
    return getsockopt(descriptor_.value, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) < 0 ? 0 : stats.tp_drops;
}

// The filter is written for packets with their VLAN tags, which the kernel's packets do not have: those that had one all pass.
bool PacketSocket::set_filter(const mapi_filter_code *code, uint32_t count)
{
    const auto most_bytes = uint32_t(options_.snaplen);
    std::vector<sock_filter> program;
    if (count > 0) {
        program.push_back({BPF_LD | BPF_W | BPF_ABS, 0, 0, uint32_t(SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT)});
        program.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 1});
        program.push_back({BPF_RET | BPF_K, 0, 0, most_bytes});
        program.push_back({BPF_LD | BPF_IMM, 0, 0, 0}); // as where a program begins
        for (uint32_t i = 0; i < count; ++i)
            program.push_back({code[i].code, code[i].jt, code[i].jf, code[i].code == (BPF_RET | BPF_K) ? std::min(code[i].k, most_bytes) : code[i].k});
        if (attach(program))
            return true;
    }
    program.clear();
    if (most_bytes < kAllBytes)
        program.push_back({BPF_RET | BPF_K, 0, 0, most_bytes});
    attach(program);
    return count == 0;
}

bool PacketSocket::attach(const std::vector<sock_filter> &program)
{
    const int unused = 0;
    if (program.empty()) {
        setsockopt(descriptor_.value, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof(unused));
        return true;
    }
    const sock_fprog filter = {uint16_t(program.size()), const_cast<sock_filter *>(program.data())};
    return program.size() <= BPF_MAXINSNS && setsockopt(descriptor_.value, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) == 0;
}
} // namespace mapi::drivers
