// SPDX-License-Identifier: MIT
// Point table: <nslice/points.h> as rows.
#include "point_table.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include <bpf/btf.h>
#include <nslice/file.h>
#include <nslice/record.h>

#include "identify.hpp"
#include "nsbpf/recorder.hpp"

namespace nsbpf
{
namespace
{
struct Group {
    const char *name;
    const char *text;
};
constexpr Group kGroups[] = {
#define GROUP(name, points, says) {#name, says},
    NSLICE_GROUPS(GROUP)
#undef GROUP
};

bool keeps_state(const Point &point)
{
    return !strcmp(point.group, "tcp_send") || !strcmp(point.group, "tcp_recv");
}

uint8_t other_end(uint8_t kind)
{
    switch (kind) {
    case NSLICE_KIND_START: return NSLICE_KIND_STOP;
    case NSLICE_KIND_STOP: return NSLICE_KIND_START;
    case NSLICE_KIND_INIT: return NSLICE_KIND_EXIT;
    case NSLICE_KIND_EXIT: return NSLICE_KIND_INIT;
    default: return kind;
    }
}

// The program that writes `earlier` writes `point` behind it: always or, where a program has
// several ways, on that of nearly all packets.
struct Behind {
    nsbpf_point point, earlier;
};
constexpr Behind kBehind[] = {
    {IRQ_START, IRQ_NUMBER},
    {SOFTIRQ_START, SOFTIRQ_VECTOR},
    {TCP_SEND_TCP_START, TCP_SEND_CALL_START},
    {TCP_SEND_INIT, TCP_SEND_TCP_STOP},
    {TCP_SEND_QUEUE_START, TCP_SEND_INIT},
    {TCP_SEND_DRIVER_START, TCP_SEND_QUEUE_STOP},
    {TCP_SEND_WIRE, TCP_SEND_DRIVER_START},
    {TCP_SEND_WIRE, TCP_SEND_QUEUE_STOP},
    {TCP_SEND_EXIT, TCP_SEND_DRIVER_STOP},
    {TCP_SEND_CALL_STOP, TCP_SEND_TCP_STOP},
    {TCP_RECV_IP_START, TCP_RECV_INIT},
    {TCP_RECV_TCP_START, TCP_RECV_IP_STOP},
    {TCP_RECV_EXIT, TCP_RECV_TCP_STOP},
    {TCP_RECV_COPIED, TCP_RECV_COPY_START},
};
constexpr uint32_t kInProgramFirstId = NSLICE_KERNEL_FIRST_ID + 0x800; // of the other sites
static_assert(NSBPF_POINTS <= 0x100);

bool can_be_in_program(uint32_t point)
{
    return std::ranges::any_of(kBehind, [&](const Behind &row) { return row.point == point; });
}

void append_point(std::string &chunk, const Point &point, uint32_t id, uint8_t flags)
{
    nslice_file_site site = {};
    site.slice_id = uint16_t(id);
    site.kind = point.kind;
    site.flags = flags;
    append_site(chunk, site, point.slice, point.tracepoint);
}

uint8_t kind_of(uint32_t point)
{
    switch (point) {
    case NSBPF_CALIBRATION: return NSLICE_KIND_EXIT;
    case NSBPF_CALIBRATION_MARK: return NSLICE_KIND_MARK;
    case NSBPF_CALIBRATION_INIT: return NSLICE_KIND_INIT;
    default: return kPoints[point].kind;
    }
}

uint8_t words_of(uint8_t kind)
{
    return kind == NSLICE_KIND_MARK   ? NSLICE_MARK_WORDS
           : kind == NSLICE_KIND_INIT ? NSLICE_INIT_WORDS
                                      : 0;
}
} // namespace

const std::array<Point, NSBPF_CALIBRATION> kPoints = {{
#define ROW(group, kind, tracepoint, slice, flags, says) \
    {kGroups[group].name, kGroups[group].text, NSLICE_KIND_##kind, #tracepoint, slice, flags, says},
#define NET_RX(id, kind, tracepoint, probe, slice, flags, says) \
    ROW(0, kind, tracepoint, slice, flags, says)
#define NET_TX(id, kind, tracepoint, probe, slice, flags, says) \
    ROW(1, kind, tracepoint, slice, flags, says)
#define NAPI(id, kind, tracepoint, probe, slice, flags, says) \
    ROW(2, kind, tracepoint, slice, flags, says)
#define IRQ(id, kind, tracepoint, probe, slice, flags, says) \
    ROW(3, kind, tracepoint, slice, flags, says)
#define SOFTIRQ(id, kind, tracepoint, probe, slice, flags, says) \
    ROW(4, kind, tracepoint, slice, flags, says)
#define SCHED(id, kind, tracepoint, probe, slice, flags, says) \
    ROW(5, kind, tracepoint, slice, flags, says)
#define SOCK(id, kind, tracepoint, probe, slice, flags, says) \
    ROW(6, kind, tracepoint, slice, flags, says)
#define TCP_SEND(id, kind, tracepoint, probe, slice, flags, says) \
    ROW(7, kind, tracepoint, slice, flags, says)
#define TCP_RECV(id, kind, tracepoint, probe, slice, flags, says) \
    ROW(8, kind, tracepoint, slice, flags, says)
    NSLICE_POINTS_NET_RX(NET_RX) NSLICE_POINTS_NET_TX(NET_TX) NSLICE_POINTS_NAPI(NAPI)
        NSLICE_POINTS_IRQ(IRQ) NSLICE_POINTS_SOFTIRQ(SOFTIRQ) NSLICE_POINTS_SCHED(SCHED)
            NSLICE_POINTS_SOCK(SOCK) NSLICE_POINTS_TCP_SEND(TCP_SEND)
                NSLICE_POINTS_TCP_RECV(TCP_RECV)}};

const char *kind_name(uint8_t kind)
{
    static constexpr const char *kNames[] = {"", "START", "STOP", "MARK", "INIT", "EXIT"};
    return kNames[kind];
}

bool is_in_program(uint32_t point, const std::vector<bool> &is_on)
{
    return std::ranges::any_of(
        kBehind, [&](const Behind &row) { return row.point == point && is_on[row.earlier]; });
}

uint64_t bits_of(uint32_t point, bool is_in_program)
{
    const uint32_t first_id = is_in_program ? kInProgramFirstId : NSLICE_KERNEL_FIRST_ID;
    return site_bits(uint16_t(first_id + point), kind_of(point));
}

uint64_t site_bits(uint16_t number, uint8_t kind)
{
    return uint64_t{number} << NSLICE_HEAD_SLICE_SHIFT | uint64_t{kind} << NSLICE_HEAD_KIND_SHIFT |
           uint64_t{words_of(kind)} << NSLICE_HEAD_COUNT_SHIFT;
}

uint32_t programs_bit()
{
    return 1u << std::size(kGroups);
}

uint32_t group_bit(const Point &point)
{
    for (uint32_t i = 0; i < std::size(kGroups); ++i) {
        if (!strcmp(kGroups[i].name, point.group))
            return 1u << i;
    }
    return 0;
}

uint32_t parse_groups(const std::string &names)
{
    uint32_t groups = 0;
    std::istringstream list(names);
    for (std::string name; std::getline(list, name, ',');) {
        uint32_t found = name == kProgramsGroup ? programs_bit() : 0;
        for (uint32_t i = 0; i < std::size(kGroups); ++i)
            found |= name == kGroups[i].name ? 1u << i : 0;
        if (!found)
            throw Refusal("kernel: \"" + name +
                              "\": unknown group (`nsdump kernel --list` shows all)",
                          EINVAL);
        groups |= found;
    }
    return groups;
}

bool is_end(const Point &point)
{
    return point.kind == NSLICE_KIND_STOP || point.kind == NSLICE_KIND_EXIT;
}

bool keeps_context(uint32_t groups)
{
    return std::ranges::any_of(kPoints, [groups](const Point &point) {
        return (groups & group_bit(point)) && keeps_state(point);
    });
}

void append_site(std::string &chunk, nslice_file_site site, const std::string &name,
                 const std::string &file)
{
    site.name_bytes = uint16_t(name.size() + 1);
    site.file_bytes = uint16_t(file.size() + 1);
    chunk.append(reinterpret_cast<const char *>(&site), sizeof(site));
    chunk.append(name.c_str(), site.name_bytes).append(file.c_str(), site.file_bytes);
    chunk.resize((chunk.size() + 7) / 8 * 8);
}

std::string site_chunk(uint32_t groups)
{
    std::string chunk;
    for (uint32_t i = 0; i < kPoints.size(); ++i) {
        const Point &point = kPoints[i];
        if (!(groups & group_bit(point)))
            continue;
        append_point(chunk, point, NSLICE_KERNEL_FIRST_ID + i, point.flags);
        if (can_be_in_program(i))
            append_point(chunk, point, kInProgramFirstId + i,
                         uint8_t(point.flags | NSLICE_SITE_IN_PROGRAM));
    }
    return chunk;
}

bool has_tracepoint(const btf *kernel, const std::string &name)
{
    return btf__find_by_name_kind(kernel, ("btf_trace_" + name).c_str(), BTF_KIND_TYPEDEF) > 0;
}

bool has_other_end(const btf *kernel, const Point &point)
{
    if (keeps_state(point)) // can end its slices at any of its points
        return true;
    for (const Point &other : kPoints) {
        if (!strcmp(other.group, point.group) && !strcmp(other.slice, point.slice) &&
            other.kind == other_end(point.kind) && has_tracepoint(kernel, other.tracepoint))
            return true;
    }
    return false;
}

std::string missing_text(const btf *kernel, uint32_t groups)
{
    std::string text, group;
    for (const Point &point : kPoints) {
        if (!(groups & group_bit(point)) || has_tracepoint(kernel, point.tracepoint))
            continue;
        if (group != point.group)
            text +=
                (group.empty() ? "" : "\n") + std::string("kernel.missing.") + point.group + "=";
        else
            text += ",";
        text += point.tracepoint;
        group = point.group;
    }
    return group.empty() ? text : text + "\n";
}

std::vector<Place> places()
{
    const Silence silence;
    btf *const kernel = btf__load_vmlinux_btf();
    if (!kernel)
        throw Refusal("kernel: this kernel has no BTF (CONFIG_DEBUG_INFO_BTF), which programs for "
                      "its tracepoints require; load the module nsmod instead",
                      ENOTSUP);
    std::vector<Place> all;
    for (const Point &point : kPoints)
        all.push_back({point.group, point.group_says, point.tracepoint, kind_name(point.kind),
                       point.slice, point.says, has_tracepoint(kernel, point.tracepoint)});
    btf__free(kernel);
    return all;
}
} // namespace nsbpf
