// SPDX-License-Identifier: MIT
// Programs: the skeleton of recorder.bpf.c, loaded for a request.
#include "programs.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/membarrier.h>
#include <nslice/ring.h>
#include <nslice/rules.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "identify.hpp"
#include "nsbpf/recorder.hpp"
#include "point_table.hpp"
#include "recorder.skel.h"

namespace nsbpf
{
namespace
{
constexpr uint64_t kStandardBytes = 1 << 20;
constexpr uint64_t kAllBytesMax = 1 << 29;
constexpr uint32_t kGraceUs = 100000; // far longer than a program runs

// The process id of a thread, from /proc; 0 if /proc does not show the thread.
uint32_t process_with(const std::string &thread)
{
    std::ifstream status("/proc/" + thread + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("Tgid:"))
            return uint32_t(std::strtoul(line.c_str() + strlen("Tgid:"), nullptr, 10));
    }
    return 0;
}

// As the programs see it.
uint32_t process_of(uint32_t pid)
{
    const std::string name = std::to_string(pid);
    if (pid == 0)
        return 0;
    if (kill(pid_t(pid), 0) != 0 && errno == ESRCH)
        throw Refusal("kernel: process " + name + " does not exist", ESRCH);
    if (const uint32_t process = process_with(name); process != 0 && process != pid)
        throw Refusal("kernel: " + name + " is a thread of process " + std::to_string(process) +
                          " (record it alone with --thread)",
                      ESRCH);
    return identify("/proc/" + name, pid);
}

// As the programs see it.
uint32_t thread_of(uint32_t thread, uint32_t pid)
{
    const std::string name = std::to_string(thread);
    if (thread == 0)
        return 0;
    const uint32_t process = process_with(name);
    if (process == 0)
        throw Refusal("kernel: thread " + name + " does not exist", ESRCH);
    if (pid != 0 && process != pid)
        throw Refusal("kernel: thread " + name + " belongs to process " + std::to_string(process) +
                          ", not to " + std::to_string(pid),
                      ESRCH);
    return identify("/proc/" + std::to_string(process) + "/task/" + name, thread);
}

uint64_t ring_bytes_of(const Request &request, uint32_t cpus)
{
    const uint64_t bytes = request.ring_bytes ? request.ring_bytes : kStandardBytes;
    if (cpus * (bytes + NSLICE_RING_META_BYTES) > kAllBytesMax)
        throw Refusal("kernel: rings of " + std::to_string(bytes >> 10) + " KiB for " +
                          std::to_string(cpus) +
                          " CPUs are more than 512 MiB, the limit of a "
                          "recorder by BPF (use smaller ones with --kernel-ring)",
                      EINVAL);
    return bytes;
}

uint32_t count_cpus()
{
    const int cpus = libbpf_num_possible_cpus();
    if (cpus < 0)
        refuse("the number of CPUs", -cpus);
    return uint32_t(cpus);
}
} // namespace

Programs::Programs(const Request &request)
    : groups_(parse_groups(request.groups)), cpus_(count_cpus()),
      ring_bytes_(ring_bytes_of(request, cpus_)), counters_(request.counters)
{
    kernel_ = btf__load_vmlinux_btf();
    if (!kernel_)
        throw Refusal("kernel: this kernel has no BTF (CONFIG_DEBUG_INFO_BTF), which programs for "
                      "its tracepoints require (load the module nsmod instead)",
                      ENOTSUP);
    programs_ = nsbpf_recorder__open();
    if (!programs_) {
        const int number = errno;
        btf__free(kernel_);
        refuse("the programs cannot be opened", number);
    }
    try {
        configure(request);
        choose_programs(!request.functions.empty());
        for (bpf_program *program :
             {programs_->progs.function_entry, programs_->progs.function_return})
            prepare_function_program(program);
        load();
    } catch (...) {
        nsbpf_recorder__destroy(programs_);
        btf__free(kernel_);
        throw;
    }
    if (!request.functions.empty())
        functions_.emplace(programs_->progs.function_entry, programs_->progs.function_return);
}

Programs::~Programs()
{
    functions_.reset();
    detach_groups();
    nsbpf_recorder__destroy(programs_);
    btf__free(kernel_);
}

void Programs::load()
{
    if (const int result = nsbpf_recorder__load(programs_); result != 0)
        refuse("the programs cannot be loaded", -result);
    if (counters_.count() > 0)
        counters_.open(bpf_map__fd(programs_->maps.nsbpf_events), cpus_);
}

uint64_t Programs::stride_bytes() const
{
    return NSLICE_RING_META_BYTES + ring_bytes_;
}

void Programs::configure(const Request &request)
{
    programs_->rodata->nsbpf_ring_mask = uint32_t(ring_bytes_ / NSLICE_WORD_BYTES - 1);
    programs_->rodata->nsbpf_process = int(process_of(request.pid));
    programs_->rodata->nsbpf_thread = int(thread_of(request.thread, request.pid));
    programs_->rodata->nsbpf_port = request.port;
    programs_->rodata->nsbpf_counters = counters_.count();
    bpf_map__set_max_entries(programs_->maps.nsbpf_events, cpus_ * std::max(counters_.count(), 1u));
    bpf_map__set_max_entries(programs_->maps.nsbpf_rings, cpus_);
    bpf_map__set_value_size(programs_->maps.nsbpf_rings, uint32_t(stride_bytes()));
}

// Those of the groups whose tracepoints this kernel has, and the calibration's.
void Programs::choose_programs(bool with_functions)
{
    bpf_program *program;
    bpf_object__for_each_program(program, programs_->obj)
    {
        const std::string name = bpf_program__name(program);
        bool is_wanted = name.starts_with("calibrate_") ||
                         (name.starts_with("context_") && keeps_context(groups_)) ||
                         (name.starts_with("function_") && with_functions);
        for (const Point &point : kPoints)
            is_wanted |= name == std::string(point.group) + "_" + point.tracepoint &&
                         (groups_ & group_bit(point)) && has_tracepoint(kernel_, point.tracepoint);
        bpf_program__set_autoload(program, is_wanted);
    }
}

void Programs::attach(bpf_program *program, const char *tracepoint)
{
    bpf_link *const link = bpf_program__attach(program);
    if (!link) {
        const int number = errno;
        detach_groups();
        refuse(std::string("tracepoint ") + tracepoint, number);
    }
    links_.push_back(link);
}

void Programs::attach_at(uint32_t i)
{
    const Point &point = kPoints[i];
    const std::string name = std::string(point.group) + "_" + point.tracepoint;
    bpf_program *const program = bpf_object__find_program_by_name(programs_->obj, name.c_str());
    for (uint32_t earlier = 0; earlier < i; ++earlier) {
        if (!strcmp(kPoints[earlier].group, point.group) &&
            !strcmp(kPoints[earlier].tracepoint, point.tracepoint))
            return; // the program of that point is this one
    }
    if (program && bpf_program__autoload(program))
        attach(program, point.tracepoint);
}

// Ends first, since what begins must also end.  Where groups share a tracepoint, the last one comes
// first, since its slices end before those of the others begin and its units inside of theirs.
void Programs::attach_groups()
{
    attach_at(NET_TX_XMIT_STOP); // but this is inside of what tcp_send ends there
    for (const bool is_of_ends : {true, false}) {
        for (uint32_t i = uint32_t(kPoints.size()); i-- > 0;) {
            if (is_end(kPoints[i]) == is_of_ends && i != NET_TX_XMIT_STOP)
                attach_at(i);
        }
    }
    if (keeps_context(groups_)) {
        // Last, so that the programs of the groups see the end of a softirq still inside of it.
        attach(programs_->progs.context_softirq_exit, "softirq_exit");
        attach(programs_->progs.context_softirq_entry, "softirq_entry");
    }
}

void Programs::detach_groups()
{
    if (functions_)
        functions_->detach();
    while (!links_.empty()) { // beginnings first
        bpf_link__destroy(links_.back());
        links_.pop_back();
    }
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0) // an RCU grace period
        usleep(kGraceUs);
}

void Programs::attach_functions(const Request &request)
{
    if (!functions_)
        return;
    const auto failures = functions_->attach(request.functions, request.functions_pid);
    for (const FunctionLinks::Failure &one : failures)
        refused_functions_.push_back(request.functions[one.index].name + ": " +
                                     strerror(one.number));
    if (failures.size() == request.functions.size())
        refuse("function " + request.functions.front().name + " of " +
                   request.functions.front().path,
               failures.front().number);
}

void Programs::set_functions(bool are_on)
{
    __atomic_store_n(&programs_->bss->nsbpf_functions_are_on, are_on, __ATOMIC_RELEASE);
}

FunctionLinks *Programs::calibrated_functions()
{
    set_functions(functions_.has_value());
    return functions_ ? &*functions_ : nullptr;
}

uint64_t Programs::too_deep() const
{
    return __atomic_load_n(&programs_->bss->nsbpf_too_deep, __ATOMIC_RELAXED);
}

uint64_t Programs::traps_left() const
{
    return __atomic_load_n(&programs_->bss->nsbpf_traps_left, __ATOMIC_RELAXED);
}

Programs::Calibrating Programs::attach_calibration(uint32_t thread)
{
    Calibrating calibrating(programs_);
    programs_->bss->nsbpf_calibrated_thread = identify("/proc/thread-self", thread);
    for (const uint32_t point : {NSBPF_CALIBRATION, NSBPF_CALIBRATION_MARK, NSBPF_CALIBRATION_INIT})
        __atomic_store_n(&programs_->bss->nsbpf_bits[point], bits_of(point), __ATOMIC_RELEASE);
    for (bpf_program *program :
         {programs_->progs.calibrate_0, programs_->progs.calibrate_1, programs_->progs.calibrate_2,
          programs_->progs.calibrate_3, programs_->progs.calibrate_inside,
          programs_->progs.calibrate_probes}) {
        bpf_link *const link = bpf_program__attach(program);
        if (!link)
            refuse("tracepoint sys_enter", errno);
        calibrating.links_.push_back(link);
    }
    return calibrating;
}

Programs::Calibrating::~Calibrating()
{
    for (bpf_link *link : links_)
        bpf_link__destroy(link);
    if (links_.empty())
        return;
    for (const uint32_t point : {NSBPF_CALIBRATION, NSBPF_CALIBRATION_MARK, NSBPF_CALIBRATION_INIT})
        __atomic_store_n(&programs_->bss->nsbpf_bits[point], 0, __ATOMIC_RELEASE);
}

void Programs::Calibrating::set_mode(uint32_t mode) const
{
    __atomic_store_n(&programs_->bss->nsbpf_calibrated_mode, mode, __ATOMIC_RELEASE);
}

// A point without its other end stays off.
bool Programs::is_on(const Point &point, const std::string &rules) const
{
    const bool is_unit = point.kind == NSLICE_KIND_INIT || point.kind == NSLICE_KIND_EXIT;
    return (groups_ & group_bit(point)) && has_other_end(kernel_, point) &&
           (is_unit || nslice_rules_select(rules.c_str(), point.slice, 1));
}

void Programs::set(uint32_t point, uint64_t bits)
{
    __atomic_store_n(&programs_->bss->nsbpf_bits[point], bits, __ATOMIC_RELEASE);
}

void Programs::select(const std::string &rules)
{
    if (nslice_rules_check(rules.c_str(), rules.size()) != 0)
        throw Refusal("kernel: \"" + rules + "\": invalid rules", EINVAL);
    std::vector<bool> on;
    for (const Point &point : kPoints)
        on.push_back(is_on(point, rules));
    // Ends are on before, so that few slices begin without an end.
    for (const bool is_of_ends : {true, false}) {
        for (uint32_t i = 0; i < kPoints.size(); ++i) {
            if (is_end(kPoints[i]) == is_of_ends)
                set(i, on[i] ? bits_of(i, is_in_program(i, on)) : 0);
        }
    }
}

void Programs::silence()
{
    set_functions(false);
    for (uint32_t i = 0; i < kPoints.size(); ++i)
        set(i, 0);
}

void Programs::renew_counters()
{
    if (counters_.count() == 0)
        return;
    uint32_t first = 0;
    for (auto &word : programs_->bss->nsbpf_uncounted) {
        uint64_t cpus = __atomic_load_n(&word, __ATOMIC_RELAXED);
        if (cpus != 0)
            cpus = __atomic_exchange_n(&word, 0, __ATOMIC_RELAXED);
        for (; cpus != 0; cpus &= cpus - 1)
            counters_.renew(first + uint32_t(std::countr_zero(cpus)));
        first += 64;
    }
}

std::vector<Missed> Programs::missed() const
{
    std::vector<Missed> missed;
    bpf_program *program;
    bpf_object__for_each_program(program, programs_->obj)
    {
        bpf_prog_info info = {};
        uint32_t bytes = sizeof(info);
        const int descriptor = bpf_program__fd(program);
        if (descriptor >= 0 && bpf_obj_get_info_by_fd(descriptor, &info, &bytes) == 0 &&
            info.recursion_misses > 0)
            missed.push_back({bpf_program__name(program), info.recursion_misses});
    }
    return missed;
}

int Programs::process() const
{
    return programs_->rodata->nsbpf_process;
}

int Programs::thread() const
{
    return programs_->rodata->nsbpf_thread;
}

int Programs::rings() const
{
    return bpf_map__fd(programs_->maps.nsbpf_rings);
}
} // namespace nsbpf
