// SPDX-License-Identifier: MIT
// attached_program: libbpf and the skeleton that bpftool makes of ktime.bpf.c.
#include "reports/ktime_runner/attached_program.hpp"

#include <cerrno>
#include <cstring>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <unistd.h>

#include "ktime.skel.h"

namespace ktime_runner
{
namespace
{
[[noreturn]] void refuse(const std::string &what, int number)
{
    throw Refusal(what + ": " + std::strerror(number));
}

bpf_prog_info info_of(int program)
{
    bpf_prog_info info = {};
    uint32_t bytes = sizeof(info);
    if (bpf_obj_get_info_by_fd(program, &info, &bytes) != 0)
        refuse("BPF_OBJ_GET_INFO_BY_FD", errno);
    return info;
}

template <class Value> Value value_of(const bpf_map *map)
{
    Value value = {};
    const uint32_t key = 0;
    if (bpf_map_lookup_elem(bpf_map__fd(map), &key, &value) != 0)
        refuse("BPF_MAP_LOOKUP_ELEM", errno);
    return value;
}

// full_4 and first_4 write the clock's event; map_4 one without times.
bool writes_event(const std::string &variant)
{
    return variant.starts_with("full_") || variant.starts_with("first_");
}

void refuse_other_program(const std::string &interface, int interface_index)
{
    uint32_t id = 0;
    if (bpf_xdp_query_id(interface_index, 0, &id) != 0 || id == 0)
        return;
    throw Refusal(interface + ": XDP program (id " + std::to_string(id) +
                  ") is attached already; end the process that attached it, or remove it (ip link "
                  "set dev " +
                  interface + " xdp off)");
}
} // namespace

LoadedProgram::LoadedProgram(const std::string &variant)
    : skeleton_(ktime__open()), has_event_(writes_event(variant))
{
    if (!skeleton_)
        refuse("ktime.bpf.c: cannot be opened", errno);
    bpf_program *wanted = nullptr, *program = nullptr;
    bpf_object__for_each_program(program, skeleton_->obj)
    {
        const bool is_wanted = variant == bpf_program__name(program);
        bpf_program__set_autoload(program, is_wanted);
        wanted = is_wanted ? program : wanted;
    }
    const bool has_map = has_event_ || variant.starts_with("map_");
    bpf_map__set_autocreate(skeleton_->maps.events, has_map);
    bpf_map__set_autocreate(skeleton_->maps.pauses, variant == "pause");
    const int result = wanted ? ktime__load(skeleton_) : -ENOENT;
    if (result != 0) {
        ktime__destroy(skeleton_);
        refuse("the XDP program " + variant + " cannot be loaded", -result);
    }
    descriptor_ = bpf_program__fd(wanted);
}

LoadedProgram::~LoadedProgram()
{
    ktime__destroy(skeleton_);
}

RunStatistics LoadedProgram::statistics() const
{
    const bpf_prog_info info = info_of(descriptor_);
    return {info.run_time_ns, info.run_cnt};
}

ktime_event LoadedProgram::event() const
{
    return value_of<ktime_event>(skeleton_->maps.events);
}

ktime_pauses LoadedProgram::pauses() const
{
    return value_of<ktime_pauses>(skeleton_->maps.pauses);
}

void LoadedProgram::test_run(const void *packet, uint32_t bytes) const
{
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet, .data_size_in = bytes);
    if (bpf_prog_test_run_opts(descriptor_, &options) != 0)
        refuse("BPF_PROG_TEST_RUN", errno);
}

Attachment::Attachment(const LoadedProgram &program, const std::string &interface)
{
    const auto index = int(if_nametoindex(interface.c_str()));
    if (index == 0)
        throw Refusal(interface + ": no such interface");
    refuse_other_program(interface, index);
    for (const uint32_t mode : {XDP_FLAGS_DRV_MODE, XDP_FLAGS_SKB_MODE}) {
        LIBBPF_OPTS(bpf_link_create_opts, options, .flags = mode);
        link_ = bpf_link_create(program.descriptor(), index, BPF_XDP, &options);
        is_native_ = mode == XDP_FLAGS_DRV_MODE;
        if (link_ >= 0)
            return;
    }
    const int number = errno;
    refuse_other_program(interface, index);
    refuse(interface + ": the XDP program cannot be attached", number);
}

Attachment::~Attachment()
{
    if (link_ >= 0)
        close(link_);
}
} // namespace ktime_runner
