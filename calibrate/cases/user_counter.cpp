// SPDX-License-Identifier: MIT
// user_counter: perf event of this thread -> number of the register that user space may read.
#include "user_counter.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace calibrate
{
namespace
{
size_t page_bytes()
{
    return size_t(sysconf(_SC_PAGESIZE));
}
} // namespace

std::string why_not_opened(int err)
{
    switch (err) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP: return "this machine has no PMU for programs (most virtual machines)";
    case EACCES:
    case EPERM:
        return "perf_event_open: permission denied (lower /proc/sys/kernel/perf_event_paranoid to "
               "2 or less)";
    default: return fmt::format("perf_event_open: {}", std::strerror(err));
    }
}

std::string why_not_readable(const perf_event_mmap_page &page)
{
    if (!page.cap_user_rdpmc)
        return "counter reads by programs are disabled (cap_user_rdpmc is 0; x86-64: see "
               "/sys/bus/event_source/devices/cpu/rdpmc, arm64: /proc/sys/kernel/perf_user_access)";
    if (page.index == 0)
        return "the kernel assigned no register: they are in use by other programs, or user reads "
               "are disabled";
    return "";
}

UserCounter::UserCounter(uint64_t event, uint64_t config1) : page_(MAP_FAILED)
{
    perf_event_attr attr = {};
    attr.type = PERF_TYPE_HARDWARE;
    attr.size = sizeof(attr);
    attr.config = event;
    attr.config1 = config1;
    attr.pinned = 1; // keeps its register or fails
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    file_ = int(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (file_ < 0) {
        lacks_ = why_not_opened(errno);
        return;
    }
    page_ = mmap(nullptr, page_bytes(), PROT_READ, MAP_SHARED, file_, 0);
    if (page_ == MAP_FAILED) {
        lacks_ = fmt::format("cannot map the counter's page: {}", std::strerror(errno));
        return;
    }
    const auto &page = *static_cast<const perf_event_mmap_page *>(page_);
    lacks_ = why_not_readable(page);
    if (lacks_.empty())
        number_ = page.index - 1;
}

uint64_t UserCounter::value() const
{
    uint64_t value = 0;
    return read(file_, &value, sizeof(value)) == sizeof(value) ? value : 0;
}

UserCounter::~UserCounter()
{
    if (page_ != MAP_FAILED)
        munmap(page_, page_bytes());
    if (file_ >= 0)
        close(file_);
}
} // namespace calibrate
