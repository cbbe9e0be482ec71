// SPDX-License-Identifier: MIT
// cli: which recorder of the kernel is used, and the source of its chunks.
#include "cli/record/kernel_programs.hpp"

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nslice/bpf_site.h>
#include <nslice/control.h>
#include <nsprobe/nsmod.h>
#include <unistd.h>

#include "common/command/output.hpp"
#include "common/command/tell.hpp"
#include "decode/error.hpp"
#ifdef NETSLICE_BPF
#include "nsbpf/recorder.hpp"
#endif

namespace nsdump
{
namespace
{
bool has_module()
{
    return access(NSLICE_DEVICE, F_OK) == 0;
}

// The module records no probes of BPF programs, and no functions of programs.
bool is_module_chosen(const KernelOptions &options, const std::string &groups)
{
    const bool has_group = has_programs_group(groups), has_functions = !options.functions.empty();
    if (options.recorder == "nsmod" && has_functions)
        throw command::UsageError("--kernel-recorder nsmod: functions by uprobes require the "
                                  "recorder by BPF (omit it)");
    if (options.recorder == "nsmod" && has_group)
        throw command::UsageError("--kernel programs: probes of BPF programs are recorded by BPF, "
                                  "not by nsmod (use --kernel-recorder bpf, or auto)");
    return options.recorder == "nsmod" ||
           (options.recorder == "auto" && has_module() && !has_group && !has_functions);
}

#ifdef NETSLICE_BPF
class Programs final : public KernelPrograms
{
public:
    explicit Programs(const nsbpf::Request &request) : recorder_(request)
    {
        source_.fd = recorder_.descriptor();
        source_.of = &recorder_;
        source_.end = [](void *of) { static_cast<nsbpf::Recorder *>(of)->end(); };
        source_.select = [](void *of, const char *rules) {
            try {
                static_cast<nsbpf::Recorder *>(of)->select(rules);
                return 0;
            } catch (const nsbpf::Refusal &refusal) {
                return -refusal.number();
            }
        };
    }
    const nsp_kernel_source &source() const override { return source_; }

private:
    nsbpf::Recorder recorder_;
    nsp_kernel_source source_ = {};
};

std::string text_of(const std::vector<nsbpf::Place> &places)
{
    std::string text;
    for (const nsbpf::Place &place : places)
        text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", place.group, place.group_says,
                            place.tracepoint, place.kind, place.slice, place.says,
                            place.is_here ? "yes" : "no");
    return text;
}

// Throws UsageError for what only the module can do.
void check(const KernelOptions &options, const std::string &groups)
{
    constexpr const char *kOnlyModule = "requires the kernel module nsmod, which is not loaded or "
                                        "not selected (--kernel-recorder)";
    if (groups.empty() && options.functions.empty())
        throw command::UsageError(fmt::format("--kernel modules: {}", kOnlyModule));
}

// Throws UsageError or TraceError.
std::vector<nslice_kernel_counter> counters_of(const std::string &names)
{
    std::vector<nslice_kernel_counter> counters(NSLICE_MAX_COUNTERS);
    const int count = nsp_kernel_counters(names.c_str(), counters.data());
    if (count == -EINVAL)
        throw command::UsageError(nsp_last_error());
    if (count < 0)
        throw TraceError(nsp_last_error());
    counters.resize(size_t(count));
    return counters;
}
#endif
} // namespace

bool has_programs_group(std::string_view groups)
{
    while (!groups.empty()) {
        const size_t end = groups.find(',');
        if (groups.substr(0, end) == NSLICE_BPF_GROUP)
            return true;
        groups.remove_prefix(end == groups.npos ? groups.size() : end + 1);
    }
    return false;
}

std::unique_ptr<KernelPrograms> start_programs(const KernelOptions &options,
                                               const std::string &groups)
{
    if (is_module_chosen(options, groups)) {
        if (options.thread != 0)
            throw command::UsageError(
                "--thread: requires a recorder by BPF, and nsmod would record "
                "(give --kernel-recorder bpf, or --pid for a whole process)");
        return nullptr;
    }
#ifdef NETSLICE_BPF
    check(options, groups);
    nsbpf::Request request;
    request.groups = groups;
    request.ring_bytes = options.ring_bytes;
    request.counters = counters_of(options.counters);
    request.pid = options.pid;
    request.thread = options.thread;
    request.port = uint16_t(options.port);
    request.slices = options.slices;
    if (options.starts_program)
        request.programs_of = nsbpf::Whose::kStarted;
    request.thin_permille = thin_permille(options);
    request.reason = options.recorder == "bpf"    ? "requested"
                     : !options.functions.empty() ? "functions are recorded by uprobes"
                     : has_module()               ? "only BPF records the group programs"
                                                  : "the kernel module nsmod is not loaded";
    request.tell = [](const std::string &words) { command::tell("nsdump: warning: {}\n", words); };
    for (const TracedFunction &one : options.functions)
        request.functions.push_back({one.path, one.offset, one.name, one.file, one.way});
    request.functions_pid = options.functions_pid;
    request.functions_reason = options.functions_reason;
    try {
        return std::make_unique<Programs>(request);
    } catch (const nsbpf::Refusal &refusal) {
        if (refusal.number() == EINVAL)
            throw command::UsageError(refusal.what());
        throw TraceError(refusal.what());
    }
#else
    (void)groups;
    if (!options.functions.empty())
        throw command::UsageError("--function: this build has no recorder by BPF (libbpf, clang or "
                                  "bpftool was missing), which uprobes require");
    if (options.recorder == "auto")
        return nullptr; // the module's refusal says what is missing
    throw command::UsageError("--kernel-recorder=bpf: this build has no recorder by BPF (libbpf, "
                              "clang or bpftool was missing)");
#endif
}

std::string kernel_groups_text()
{
    std::string of_programs;
#ifdef NETSLICE_BPF
    of_programs = text_of(nsbpf::program_places());
    if (!has_module()) {
        try {
            return text_of(nsbpf::places()) + of_programs;
        } catch (const nsbpf::Refusal &refusal) {
            throw TraceError(refusal.what());
        }
    }
#endif
    char *raw = nullptr;
    if (nsp_nsmod_groups(&raw) != 0)
        throw TraceError(nsp_last_error());
    const std::unique_ptr<char, decltype(&std::free)> text(raw, std::free);
    return text.get() + of_programs;
}
} // namespace nsdump
