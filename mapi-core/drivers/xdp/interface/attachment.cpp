// SPDX-License-Identifier: MIT
// Links of programs to interfaces: XDP in native mode where the driver has it and in generic mode
// otherwise, and traffic control for outgoing packets.
#include "drivers/xdp/interface/attachment.hpp"

#include <cerrno>
#include <cstring>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drivers/xdp/kernel_object.hpp"

namespace mapi::drivers::xdp
{
namespace
{
// Since Linux 6.6, and so not in the headers of all systems.
constexpr auto kTcxEgress = bpf_attach_type(47);
constexpr uint32_t kBeforeOthers = 1 << 3; // BPF_F_BEFORE: what they decide hides no packet
constexpr uint32_t kGraceUs = 100000;      // far longer than a program runs

// What is attached, and what can be done about it; an empty string if nothing is.  The name is
// known only with CAP_SYS_ADMIN.
std::string describe_attached(const std::string &interface, uint32_t interface_index)
{
    uint32_t id = 0;
    if (bpf_xdp_query_id(int(interface_index), 0, &id) != 0 || id == 0)
        return {};
    std::string name;
    const ipc::Descriptor program(bpf_prog_get_fd_by_id(id));
    bpf_prog_info info = {};
    uint32_t bytes = sizeof(info);
    if (program.is_open() && bpf_obj_get_info_by_fd(program.number(), &info, &bytes) == 0)
        name = info.name;
    const std::string of_mapi =
        "use one device of the interface, through mapid for several processes";
    const std::string of_others = "end the process that attached it, remove it (ip link set dev " +
                                  interface +
                                  " xdp off, unless a link holds it), or read the interface with "
                                  "driver=af_packet";
    const std::string remedy =
        name == kProgramName ? "it is that of another device of MAPI: " + of_mapi
        : name.empty()       ? "if it is MAPI's, " + of_mapi + "; else " + of_others
                             : of_others;
    return "XDP program " + (name.empty() ? "" : "\"" + name + "\" ") + "(id " +
           std::to_string(id) + ") is attached already; " + remedy;
}

int create_link(int program, uint32_t interface_index, uint32_t flags)
{
    LIBBPF_OPTS(bpf_link_create_opts, options, .flags = flags);
    return bpf_link_create(program, int(interface_index), BPF_XDP, &options);
}
} // namespace

Attachment::Attachment(const std::string &interface, uint32_t interface_index, int program,
                       int outgoing, std::chrono::milliseconds patience)
    : interface_(interface), interface_index_(interface_index),
      own_(interface, interface_index, patience)
{
    attach(program);
    if (outgoing >= 0)
        attach_outgoing(outgoing);
}

void Attachment::attach(int program)
{
    if (const std::string other = describe_attached(interface_, interface_index_); !other.empty())
        throw KernelRefusal(interface_ + ": " + other, EBUSY);
    link_ = ipc::Descriptor(create_link(program, interface_index_, XDP_FLAGS_DRV_MODE));
    if (link_.is_open())
        return;
    mode_ = Mode::kGeneric;
    link_ = ipc::Descriptor(create_link(program, interface_index_, XDP_FLAGS_SKB_MODE));
    if (link_.is_open())
        return;
    const int number = errno;
    const std::string other = describe_attached(interface_, interface_index_);
    throw KernelRefusal(interface_ + ": the XDP program cannot be attached: " +
                            (other.empty() ? std::string(std::strerror(number)) : other),
                        number);
}

void Attachment::attach_outgoing(int program)
{
    LIBBPF_OPTS(bpf_link_create_opts, options, .flags = kBeforeOthers);
    outgoing_link_ =
        ipc::Descriptor(bpf_link_create(program, int(interface_index_), kTcxEgress, &options));
    if (outgoing_link_.is_open())
        return;
    const int number = errno;
    throw KernelRefusal(interface_ + ": the program for outgoing packets cannot be attached: " +
                            (number == EINVAL ? "the option \"both\" requires tcx, of Linux 6.6 "
                                                "(CONFIG_NET_XGRESS); omit it, or read the "
                                                "interface with driver=af_packet"
                                              : std::strerror(number)),
                        number);
}

void Attachment::replace(int program, int outgoing)
{
    update(link_, "XDP program", program);
    if (outgoing_link_.is_open())
        update(outgoing_link_, "program for outgoing packets", outgoing);
}

void Attachment::update(const ipc::Descriptor &link, const char *description, int program)
{
    if (bpf_link_update(link.number(), program, nullptr) == 0)
        return;
    const int number = errno;
    throw KernelRefusal(interface_ + ": the " + description +
                            " cannot be replaced: " + std::strerror(number),
                        number);
}

// The system call waits for an RCU grace period; it is not available on a kernel with nohz_full.
void wait_for_running_programs()
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
        usleep(kGraceUs);
}
} // namespace mapi::drivers::xdp
