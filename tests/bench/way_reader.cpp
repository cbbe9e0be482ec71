// SPDX-License-Identifier: MIT
// way_reader INTERFACE WAY BYTES: packets of one size that arrive at the interface, read as they
// come from the kernel in one of several ways, until standard input ends.  Prints "ready", and in
// the end one line of JSON: packets, drops by cause, and the CPU time of the reading thread.  The
// way zero_copy: only whether AF_XDP has it on the interface.
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>

#include <net/if.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "af_xdp.hpp"
#include "drivers/xdp/interface/attachment.hpp"
#include "kernel_ring.hpp"
#include "own_rings.hpp"

namespace
{
using mapi::drivers::xdp::Attachment;
using mapi::drivers::xdp::KernelRefusal;
using mapi::match::EbpfCode;

constexpr int kPauseMs = 1; // without a packet, as in the driver xdp
constexpr int kTryAgainMs = 20, kTries = 100;

struct Source {
    bench::Way way;
    std::function<nlohmann::json()> drops; // by cause
};

// No packet comes to the reader: what remains is the cost of sending them to a program.
Source none()
{
    EbpfCode code;
    code.alu(mapi::match::EbpfWidth::k64, mapi::match::EbpfOperation::kMove,
             mapi::match::EbpfRegister::r0, mapi::match::kXdpDrop);
    code.exit();
    code.finish();
    const auto program = std::make_shared<mapi::ipc::Descriptor>(
        mapi::drivers::xdp::load_xdp_program("drop_bench", code, false));
    return {{program->number(), [program](bench::Taken &) {}},
            [] { return nlohmann::json::object(); }};
}

Source own_rings()
{
    const auto rings = std::make_shared<bench::OwnRings>(true);
    return {rings->way(), [rings] { return nlohmann::json{{"ring_full", rings->drops()}}; }};
}

Source kernel_ring(uint32_t bytes)
{
    const auto ring = std::make_shared<bench::KernelRing>(bytes, true);
    return {ring->way(), [ring] { return nlohmann::json{{"ring_full", ring->drops()}}; }};
}

// The kernel frees the queue of a socket that was closed some time later.
std::shared_ptr<bench::AfXdp> open_af_xdp(const std::string &interface, bench::AfXdp::Time time)
{
    for (int tries = 1;; ++tries) {
        try {
            return std::make_shared<bench::AfXdp>(interface, time);
        } catch (const KernelRefusal &refusal) {
            if (refusal.number() != EBUSY || tries == kTries)
                throw;
            poll(nullptr, 0, kTryAgainMs);
        }
    }
}

Source af_xdp(const std::string &interface, bench::AfXdp::Time time)
{
    const std::shared_ptr<bench::AfXdp> socket = open_af_xdp(interface, time);
    return {socket->way(), [socket] {
                const bench::AfXdp::Drops drops = socket->drops();
                return nlohmann::json{{"rx_dropped", drops.no_frame},
                                      {"rx_ring_full", drops.ring_full},
                                      {"fill_ring_empty", drops.fill_ring_empty},
                                      {"rx_invalid_descs", drops.invalid},
                                      {"wakeups", socket->wakeups()}};
            }};
}

Source make(const std::string &way, const std::string &interface, uint32_t bytes)
{
    const std::map<std::string, std::function<Source()>> sources = {
        {"none", none},
        {"own", own_rings},
        {"kernel", [&] { return kernel_ring(bytes); }},
        {"af_xdp", [&] { return af_xdp(interface, bench::AfXdp::Time::kBeforePacket); }},
        {"af_xdp_without_time", [&] { return af_xdp(interface, bench::AfXdp::Time::kNone); }},
    };
    return sources.at(way)();
}

int64_t cpu_ns()
{
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

bench::Taken read_until_input_ends(const bench::Way &way)
{
    bench::Taken taken;
    for (bool is_over = false;;) {
        const uint64_t before = taken.packets;
        way.take(taken);
        if (taken.packets > before)
            continue;
        if (is_over)
            return taken;
        pollfd input = {STDIN_FILENO, POLLIN, 0};
        is_over = poll(&input, 1, kPauseMs) > 0;
    }
}

void tell_zero_copy(const std::string &interface)
{
    const int number = bench::AfXdp::zero_copy_error(interface);
    std::cout << nlohmann::json{{"errno", number}, {"error", std::strerror(number)}} << std::endl;
}

void read(const std::string &interface, const Source &source)
{
    const Attachment attachment(interface, if_nametoindex(interface.c_str()), source.way.program,
                                -1, std::chrono::milliseconds(0));
    std::cout << "ready" << std::endl;
    const int64_t begin_ns = cpu_ns();
    const bench::Taken taken = read_until_input_ends(source.way);
    const int64_t used_ns = cpu_ns() - begin_ns;
    std::cout << nlohmann::json{{"packets", taken.packets},
                                {"different", taken.different},
                                {"first_sum", taken.first_sum},
                                {"cpu_ns", used_ns},
                                {"is_native", attachment.mode() == Attachment::Mode::kNative},
                                {"drops", source.drops()}}
              << std::endl;
}
} // namespace

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::cerr << "usage: way_reader INTERFACE WAY BYTES\n";
        return 2;
    }
    const std::string interface = argv[1], way = argv[2];
    try {
        if (way == "zero_copy")
            tell_zero_copy(interface);
        else
            read(interface, make(way, interface, uint32_t(std::strtoul(argv[3], nullptr, 10))));
        return 0;
    } catch (const KernelRefusal &refusal) {
        std::cerr << refusal.what() << "\n";
        return refusal.number() == EPERM ? 77 : 1;
    }
}
