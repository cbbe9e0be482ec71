// SPDX-License-Identifier: MIT
// Identify: a program reads the number from the open folder of /proc.
#include "identify.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <memory>

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "identify.skel.h"
#include "nsbpf/recorder.hpp"

namespace nsbpf
{
namespace
{
int keep_silent(libbpf_print_level, const char *, va_list)
{
    return 0;
}
} // namespace

void be_silent()
{
    libbpf_set_print(keep_silent);
}

void refuse(const std::string &what, int number)
{
    const bool is_permission = number == EPERM || number == EACCES;
    throw Refusal("kernel: " + what + ": " + std::strerror(number) +
                      (is_permission ? " (requires the capabilities CAP_BPF and CAP_PERFMON)" : ""),
                  number);
}

uint32_t identify(const std::string &folder, uint32_t otherwise)
{
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return otherwise;
    const std::unique_ptr<nsbpf_identify, decltype(&nsbpf_identify__destroy)> program(
        nsbpf_identify__open(), nsbpf_identify__destroy);
    uint64_t password = 0;
    int result = -errno;
    if (program && getrandom(&password, sizeof(password), 0) == sizeof(password)) {
        program->rodata->nsbpf_password = password;
        result = nsbpf_identify__load(program.get());
        if (result == 0)
            result = nsbpf_identify__attach(program.get());
    }
    if (result == 0)
        syscall(SYS_getppid, password, descriptor);
    close(descriptor);
    if (result != 0)
        refuse("the programs cannot be loaded", -result);
    const int number = program->bss->nsbpf_identified;
    return number > 0 ? uint32_t(number) : otherwise;
}
} // namespace nsbpf
