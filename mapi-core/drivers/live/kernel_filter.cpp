// SPDX-License-Identifier: MIT
#include "drivers/live/kernel_filter.hpp"

#include <algorithm>
#include <span>

namespace mapi::drivers
{
namespace
{
// The filter expects packets with their VLAN tags, which the kernel's packets lack: all packets
// that had a tag pass.
constexpr sock_filter kPrefix[] = {
    {BPF_LD | BPF_B | BPF_ABS, 0, 0,
     uint32_t(SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT)}, // a byte, as in libpcap's filters
    {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 1},
    {BPF_RET | BPF_K, 0, 0, 0},  // snaplen
    {BPF_LD | BPF_IMM, 0, 0, 0}, // restores the state at the start of a program
};
constexpr size_t kReturn = 2;

// A shift by more than 31 bits gives 0 in libpcap and here, but not in the kernel.
bool shifts_by_register(const mapi_filter_code &one)
{
    return one.code == (BPF_ALU | BPF_LSH | BPF_X) || one.code == (BPF_ALU | BPF_RSH | BPF_X);
}
} // namespace

std::vector<sock_filter> pass_all(uint32_t snaplen)
{
    return {{BPF_RET | BPF_K, 0, 0, snaplen}};
}

std::vector<sock_filter> kernel_filter(const mapi_filter_code *code, uint32_t count,
                                       uint32_t snaplen)
{
    const std::span given(code, count);
    if (given.empty() || given.size() + std::size(kPrefix) > BPF_MAXINSNS ||
        std::any_of(given.begin(), given.end(), shifts_by_register))
        return {};
    std::vector<sock_filter> filter(std::begin(kPrefix), std::end(kPrefix));
    filter[kReturn].k = snaplen;
    for (const mapi_filter_code &one : given)
        filter.push_back({one.code, one.jt, one.jf,
                          one.code == (BPF_RET | BPF_K) ? std::min(one.k, snaplen) : one.k});
    return filter;
}
} // namespace mapi::drivers
