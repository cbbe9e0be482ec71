// SPDX-License-Identifier: MIT
// Calls of bpf(2) -> owned objects, or the cause of a refusal in one line.
#include "drivers/xdp/kernel_object.hpp"

#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mapi::drivers::xdp
{
namespace
{
constexpr size_t kLogBytes = 1 << 20; // enough for the end of the path that the verifier refused
constexpr char kLicense[] = "Dual MIT/GPL";

// The verifier's log ends with the cause, then statistics.
std::string cause_in(const std::string &log)
{
    std::string cause;
    for (size_t begin = 0; begin < log.size();) {
        const size_t end = std::min(log.find('\n', begin), log.size());
        const std::string line = log.substr(begin, end - begin);
        const bool is_statistics =
            line.starts_with("processed ") || line.starts_with("verification time ") ||
            line.starts_with("stack depth ") || line.starts_with("insns processed ");
        if (!line.empty() && !is_statistics)
            cause = line;
        begin = end + 1;
    }
    return cause;
}

std::string remedy(int number)
{
    if (number == EPERM || number == EACCES)
        return " (requires the capabilities CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN)";
    if (number == ENOMEM)
        return " (raise the memory limit of this program's control group, memory.max, or set a "
               "smaller buffer_mb, mapi.conf(5))";
    return "";
}

[[noreturn]] void refuse(const std::string &object, int number, const std::string &cause = "")
{
    throw KernelRefusal(
        object + ": " + (cause.empty() ? std::strerror(number) : cause) + remedy(number), number);
}
// The number of a new type.
int added(int number)
{
    if (number < 0)
        refuse("BTF of a program", -number);
    return number;
}

// The type of a function that gets the program's context and so many numbers.
int add_global_type(btf *types, int number, int context, uint32_t numbers)
{
    const int type = added(btf__add_func_proto(types, number));
    added(btf__add_func_param(types, "context", context));
    for (uint32_t i = 0; i < numbers; ++i)
        added(btf__add_func_param(types, "number", number));
    return type;
}

int add_context_type(btf *types, bpf_prog_type program)
{
    const int context = added(program == BPF_PROG_TYPE_XDP
                                  ? btf__add_struct(types, "xdp_md", sizeof(xdp_md))
                                  : btf__add_struct(types, "__sk_buff", sizeof(__sk_buff)));
    return added(btf__add_ptr(types, context));
}

using Types = std::unique_ptr<btf, decltype(&btf__free)>;

// The types of a program's functions, if it has more than the main one.
Types describe_functions(const match::EbpfCode &code, bpf_prog_type program,
                         std::vector<bpf_func_info> &functions)
{
    Types types(nullptr, btf__free);
    if (code.functions().size() == 1)
        return types;
    types.reset(btf__new_empty());
    if (!types)
        refuse("BTF of a program", errno);
    const int number = added(btf__add_int(types.get(), "long", 8, BTF_INT_SIGNED));
    const int own = added(btf__add_func_proto(types.get(), number));
    const int context = add_context_type(types.get(), program);
    for (const match::EbpfCode::Function &function : code.functions()) {
        const std::string name = "mapi_" + std::to_string(functions.size());
        const bool is_global = function.linkage == match::EbpfLinkage::kGlobal;
        const int type = is_global && function.begin > 0
                             ? add_global_type(types.get(), number, context, function.numbers)
                             : own;
        functions.push_back(
            {function.begin,
             uint32_t(added(btf__add_func(types.get(), name.c_str(),
                                          is_global ? BTF_FUNC_GLOBAL : BTF_FUNC_STATIC, type)))});
    }
    if (const int result = btf__load_into_kernel(types.get()); result != 0)
        refuse("BTF of a program", -result);
    return types;
}

// What the code knows of <linux/bpf.h>.
static_assert(int(match::EbpfHelper::kMapLookupElem) == BPF_FUNC_map_lookup_elem &&
              int(match::EbpfHelper::kGetCurrentPidTgid) == BPF_FUNC_get_current_pid_tgid &&
              int(match::EbpfHelper::kGetCurrentTaskBtf) == BPF_FUNC_get_current_task_btf &&
              int(match::EbpfHelper::kKtimeGetNs) == BPF_FUNC_ktime_get_ns &&
              int(match::EbpfHelper::kGetPrandomU32) == BPF_FUNC_get_prandom_u32 &&
              int(match::EbpfHelper::kGetSmpProcessorId) == BPF_FUNC_get_smp_processor_id &&
              int(match::EbpfHelper::kSkbLoadBytes) == BPF_FUNC_skb_load_bytes &&
              int(match::EbpfHelper::kLoop) == BPF_FUNC_loop &&
              int(match::EbpfHelper::kXdpGetBuffLen) == BPF_FUNC_xdp_get_buff_len &&
              int(match::EbpfHelper::kXdpLoadBytes) == BPF_FUNC_xdp_load_bytes);
static_assert(int(match::kXdpPass) == XDP_PASS && int(match::kXdpDrop) == XDP_DROP &&
              int(match::kXdpData) == offsetof(xdp_md, data) &&
              int(match::kXdpDataEnd) == offsetof(xdp_md, data_end));
static_assert(int(match::kSkbLength) == offsetof(__sk_buff, len) &&
              int(match::kSkbData) == offsetof(__sk_buff, data) &&
              int(match::kSkbDataEnd) == offsetof(__sk_buff, data_end) &&
              int(match::kTcxNext) == TC_ACT_UNSPEC); // TCX_NEXT, since Linux 6.6
static_assert(sizeof(match::EbpfInstruction) == sizeof(bpf_insn));

ipc::Descriptor load_program(bpf_prog_type type, const char *name, const match::EbpfCode &code,
                             bpf_prog_load_opts &options)
{
    std::vector<bpf_func_info> functions;
    const auto types = describe_functions(code, type, functions);
    if (types) { // callbacks are only accepted with them
        options.prog_btf_fd = uint32_t(btf__fd(types.get()));
        options.func_info = functions.data();
        options.func_info_cnt = uint32_t(functions.size());
        options.func_info_rec_size = sizeof(bpf_func_info);
    }
    const auto instructions = code.instructions();
    const auto load = [&] {
        return bpf_prog_load(type, name, kLicense,
                             reinterpret_cast<const bpf_insn *>(instructions.data()),
                             instructions.size(), &options);
    };
    ipc::Descriptor program(load());
    if (program.is_open())
        return program;
    const int number = errno;
    // Only now with a log: it takes much of the verifier's time.
    std::vector<char> log(kLogBytes);
    options.log_level = 1;
    options.log_buf = log.data();
    options.log_size = uint32_t(log.size());
    program = ipc::Descriptor(load());
    if (program.is_open())
        return program;
    const std::string what =
        type == BPF_PROG_TYPE_XDP ? "XDP program " : "program for outgoing packets ";
    refuse(what + name, number, cause_in(log.data()));
}
} // namespace

uint32_t count_cpus()
{
    const int count = libbpf_num_possible_cpus();
    if (count <= 0)
        refuse("number of CPUs", -count);
    return uint32_t(count);
}

int16_t member_offset(const char *structure, const char *member)
{
    const std::string what = std::string("types of the kernel (BTF): ") + structure + "." + member;
    const Types types(btf__load_vmlinux_btf(), btf__free);
    if (!types)
        refuse(what, errno);
    const int number = btf__find_by_name_kind(types.get(), structure, BTF_KIND_STRUCT);
    const btf_type *const type =
        number > 0 ? btf__type_by_id(types.get(), uint32_t(number)) : nullptr;
    for (uint32_t i = 0; type && i < btf_vlen(type); ++i) {
        const char *const name = btf__name_by_offset(types.get(), btf_members(type)[i].name_off);
        if (name && std::strcmp(name, member) == 0)
            return int16_t(btf_member_bit_offset(type, i) / CHAR_BIT);
    }
    refuse(what, ENOENT, "is not there");
}

SharedArray::SharedArray(const char *name, size_t bytes, uint32_t values)
{
    const size_t value_bytes = (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
    bytes_ = values * value_bytes;
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
    object_ = ipc::Descriptor(bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t),
                                             uint32_t(value_bytes), values, &options));
    if (!object_.is_open()) {
        const int number = errno;
        refuse(std::string("BPF map ") + name + " of " + std::to_string((bytes_ + 1023) / 1024) +
                   " KiB",
               number, number == E2BIG ? "before Linux 6.0 a map has at most 4 MiB" : "");
    }
    void *memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor(), 0);
    if (memory == MAP_FAILED)
        refuse(std::string("BPF map ") + name + ": mmap", errno);
    words_ = static_cast<uint64_t *>(memory);
}

SharedArray::SharedArray(SharedArray &&other) noexcept
    : object_(std::move(other.object_)), bytes_(other.bytes_),
      words_(std::exchange(other.words_, nullptr))
{
}

SharedArray::~SharedArray()
{
    if (words_)
        munmap(words_, bytes_);
}

ipc::Descriptor load_xdp_program(const char *name, const match::EbpfCode &code,
                                 bool takes_fragments)
{
    LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_XDP,
                .prog_flags = takes_fragments ? BPF_F_XDP_HAS_FRAGS : 0u);
    return load_program(BPF_PROG_TYPE_XDP, name, code, options);
}

ipc::Descriptor load_egress_program(const char *name, const match::EbpfCode &code)
{
    LIBBPF_OPTS(bpf_prog_load_opts, options);
    return load_program(BPF_PROG_TYPE_SCHED_CLS, name, code, options);
}

TestRun test_run(int program, std::span<const uint8_t> packet, uint32_t runs)
{
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet.data(),
                .data_size_in = uint32_t(packet.size()), .repeat = int(runs));
    if (bpf_prog_test_run_opts(program, &options) != 0)
        refuse("BPF_PROG_TEST_RUN", errno);
    return {options.retval, options.duration};
}
} // namespace mapi::drivers::xdp
