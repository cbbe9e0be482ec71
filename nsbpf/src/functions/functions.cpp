// SPDX-License-Identifier: MIT
// Functions: functions of a program -> uprobes on their entries and returns; sites of the trace.
#include "functions.hpp"

#include <cerrno>
#include <iterator>
#include <map>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <nslice/file.h>
#include <nslice/record.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nsbpf/recorder.hpp"

namespace nsbpf
{
namespace
{
constexpr uint32_t kLastId = 0xffff; // downwards from here; points are at the other end
constexpr size_t kMostNameBytes = 1024, kMostFileBytes = 4096;

constexpr uint32_t kTraceUprobeMulti = 48; // BPF_TRACE_UPROBE_MULTI
constexpr uint32_t kMultiReturn = 1;       // BPF_F_UPROBE_MULTI_RETURN

// link_create.uprobe_multi of union bpf_attr, which the headers of Linux 6.1 do not have.
struct MultiLink {
    uint32_t program, target, attach_type, flags;
    uint64_t path, offsets, reference_counts, cookies;
    uint32_t count, multi_flags, pid, reserved;
};

// A descriptor, or -errno.
int create_link(MultiLink &link)
{
    const long descriptor = syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link));
    return descriptor < 0 ? -errno : int(descriptor);
}

uint16_t start_id(size_t index)
{
    return uint16_t(kLastId - 2 * index);
}

uint64_t bits_of(uint16_t id, uint8_t kind)
{
    return uint64_t(id) << NSLICE_HEAD_SLICE_SHIFT | uint64_t(kind) << NSLICE_HEAD_KIND_SHIFT;
}

std::string site_of(const Function &function, uint16_t id, uint8_t kind)
{
    const std::string name = function.name.substr(0, kMostNameBytes),
                      file = function.file.substr(0, kMostFileBytes);
    nslice_file_site site = {};
    site.slice_id = id;
    site.kind = kind;
    site.flags = uint8_t(function.way << NSLICE_WAY_SHIFT);
    site.name_bytes = uint16_t(name.size() + 1);
    site.file_bytes = uint16_t(file.size() + 1);
    std::string text(reinterpret_cast<const char *>(&site), sizeof(site));
    text.append(name.c_str(), site.name_bytes).append(file.c_str(), site.file_bytes);
    text.resize((text.size() + 7) / 8 * 8);
    return text;
}

// Without links for many, each uprobe needs two descriptors.
void allow_descriptors()
{
    rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}
} // namespace

FunctionBits bits_of_function(size_t index)
{
    const uint16_t id = start_id(index);
    return {bits_of(id, NSLICE_KIND_START), bits_of(uint16_t(id - 1), NSLICE_KIND_STOP)};
}

std::string function_sites(const std::vector<Function> &functions)
{
    std::string sites;
    for (size_t i = 0; i < functions.size(); ++i)
        sites += site_of(functions[i], start_id(i), NSLICE_KIND_START) +
                 site_of(functions[i], uint16_t(start_id(i) - 1), NSLICE_KIND_STOP);
    return sites;
}

// A folder has no code: EBADF.  The first kernels with such links took the process for a thread,
// and looked up any number: those since Linux 6.10 refuse -1 before they look at the file.
bool has_multi_uprobes()
{
    static const bool has_them = [] {
        const bpf_insn code[] = {{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
                                 {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
        LIBBPF_OPTS(bpf_prog_load_opts, options);
        options.expected_attach_type = bpf_attach_type(kTraceUprobeMulti);
        const int program =
            bpf_prog_load(BPF_PROG_TYPE_KPROBE, nullptr, "GPL", code, std::size(code), &options);
        if (program < 0)
            return false;
        const uint64_t offset = 0;
        MultiLink link = {};
        link.program = uint32_t(program);
        link.attach_type = kTraceUprobeMulti;
        link.path = reinterpret_cast<uintptr_t>("/");
        link.offsets = reinterpret_cast<uintptr_t>(&offset);
        link.count = 1;
        const bool is_known = create_link(link) == -EBADF;
        link.pid = uint32_t(-1);
        const bool is_of_process = create_link(link) == -EINVAL;
        close(program);
        return is_known && is_of_process;
    }();
    return has_them;
}

void prepare_function_program(bpf_program *program)
{
    if (has_multi_uprobes())
        bpf_program__set_expected_attach_type(program, bpf_attach_type(kTraceUprobeMulti));
}

// One file at a time.
std::vector<FunctionLinks::Failure> FunctionLinks::attach(const std::vector<Function> &functions,
                                                          uint32_t pid)
{
    allow_descriptors();
    std::map<std::string, std::vector<size_t>> by_file;
    for (size_t i = 0; i < functions.size(); ++i)
        by_file[functions[i].path].push_back(i);
    std::vector<Failure> failures;
    for (const auto &[path, span] : by_file)
        attach_span(functions, span, pid, failures);
    return failures;
}

// One function that cannot be attached makes all of its link fail.
void FunctionLinks::attach_span(const std::vector<Function> &functions,
                                const std::vector<size_t> &span, uint32_t pid,
                                std::vector<Failure> &failures)
{
    const bool must_be_split = span.size() > 1 && !has_multi_uprobes();
    const int number = must_be_split ? EAGAIN : attach_both(functions, span, pid);
    if (number == 0)
        return;
    if (span.size() == 1) {
        failures.push_back({span[0], number});
        return;
    }
    const auto middle = span.begin() + ptrdiff_t(span.size() / 2);
    attach_span(functions, {span.begin(), middle}, pid, failures);
    attach_span(functions, {middle, span.end()}, pid, failures);
}

// The return first, so that what begins also ends.
int FunctionLinks::attach_both(const std::vector<Function> &functions,
                               const std::vector<size_t> &span, uint32_t pid)
{
    const size_t links = links_.size(), multi_links = multi_links_.size();
    for (const bool is_return : {true, false}) {
        const int number = has_multi_uprobes()
                               ? attach_multi(functions, span, pid, is_return)
                               : attach_perf(functions[span[0]], span[0], pid, is_return);
        if (number == 0)
            continue;
        for (; links_.size() > links; links_.pop_back())
            bpf_link__destroy(links_.back());
        for (; multi_links_.size() > multi_links; multi_links_.pop_back())
            close(multi_links_.back());
        return number;
    }
    return 0;
}

int FunctionLinks::attach_multi(const std::vector<Function> &functions,
                                const std::vector<size_t> &span, uint32_t pid, bool is_return)
{
    std::vector<uint64_t> offsets, cookies;
    for (const size_t i : span) {
        const FunctionBits bits = bits_of_function(i);
        offsets.push_back(functions[i].offset);
        cookies.push_back(is_return ? bits.stop : bits.start);
    }
    MultiLink link = {};
    link.program = uint32_t(bpf_program__fd(is_return ? return_ : entry_));
    link.attach_type = kTraceUprobeMulti;
    link.path = reinterpret_cast<uintptr_t>(functions[span[0]].path.c_str());
    link.offsets = reinterpret_cast<uintptr_t>(offsets.data());
    link.cookies = reinterpret_cast<uintptr_t>(cookies.data());
    link.count = uint32_t(span.size());
    link.multi_flags = is_return ? kMultiReturn : 0;
    link.pid = pid;
    const int descriptor = create_link(link);
    if (descriptor < 0)
        return -descriptor;
    multi_links_.push_back(descriptor);
    return 0;
}

int FunctionLinks::attach_perf(const Function &function, size_t index, uint32_t pid, bool is_return)
{
    const FunctionBits bits = bits_of_function(index);
    LIBBPF_OPTS(bpf_uprobe_opts, options);
    options.bpf_cookie = is_return ? bits.stop : bits.start;
    options.retprobe = is_return;
    bpf_link *const link =
        bpf_program__attach_uprobe_opts(is_return ? return_ : entry_, pid_t(pid),
                                        function.path.c_str(), size_t(function.offset), &options);
    if (!link)
        return errno;
    links_.push_back(link);
    return 0;
}

void FunctionLinks::detach()
{
    for (; !multi_links_.empty(); multi_links_.pop_back()) // entries first
        close(multi_links_.back());
    for (; !links_.empty(); links_.pop_back())
        bpf_link__destroy(links_.back());
}
} // namespace nsbpf
