// SPDX-License-Identifier: MIT
// cli: a trace -> the index beside it, which is written if it is missing.
#include "cli/read/index_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/command/signals.h"
#include "common/command/status_line.hpp"

namespace nsdump
{
namespace
{
// Smaller traces are read so fast that a file beside them would only be in the way.
constexpr uint64_t kLeastTraceBytes = 64 << 20;

struct Descriptor {
    int number;
    explicit Descriptor(int opened) : number(opened) {}
    ~Descriptor()
    {
        if (number >= 0)
            close(number);
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
};

std::string path_of(const TraceFile &trace)
{
    return trace.source().name() + ".idx";
}

bool may_have_index(const TraceFile &trace)
{
    return trace.source().modified_ns() > 0 && trace.source().size_bytes() >= kLeastTraceBytes;
}

// A wrong index hides records, so it has to be of someone who could change the trace as well.
bool is_trusted(const struct stat &index, const TraceFile &trace)
{
    struct stat of_trace = {};
    return index.st_uid == 0 || index.st_uid == geteuid() ||
           (stat(trace.source().name().c_str(), &of_trace) == 0 && index.st_uid == of_trace.st_uid);
}

// At most `most` bytes of the file; none if it is not a regular file, or not to be trusted.
std::optional<std::vector<std::byte>> read_beside(const TraceFile &trace, size_t most)
{
    // Not blocked by a pipe of that name.
    const Descriptor file(open(path_of(trace).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status = {};
    if (file.number < 0 || fstat(file.number, &status) != 0 || !S_ISREG(status.st_mode) ||
        !is_trusted(status, trace))
        return std::nullopt;
    std::vector<std::byte> bytes(most);
    size_t done = 0;
    while (done < most) {
        const ssize_t now = read(file.number, bytes.data() + done, most - done);
        if (now <= 0)
            break;
        done += size_t(now);
    }
    bytes.resize(done);
    return bytes;
}

// A file of that name that is no index stays, as does a link, wherever it points.
bool is_free_for_index(const TraceFile &trace)
{
    struct stat status = {};
    if (lstat(path_of(trace).c_str(), &status) != 0)
        return errno == ENOENT;
    if (!S_ISREG(status.st_mode))
        return false;
    const auto begin = read_beside(trace, sizeof(uint64_t));
    return begin && (begin->empty() || UnitIndex::is_index(*begin));
}

bool write_all(int fd, const std::string &text)
{
    for (size_t done = 0; done < text.size();) {
        const ssize_t now = write(fd, text.data() + done, text.size() - done);
        if (now < 0 && errno != EINTR)
            return false;
        done += now > 0 ? size_t(now) : 0;
    }
    return true;
}

// Without an index the next command takes longer, and that is all: no error.  A link in its place
// is not followed: a user who may write to the folder must not choose what this one writes to.
void write_beside(const UnitIndex &index, const TraceFile &trace)
{
    if (!is_free_for_index(trace))
        return;
    std::string temporary = path_of(trace) + ".XXXXXX";
    const Descriptor file(mkostemp(temporary.data(), O_CLOEXEC));
    if (file.number < 0)
        return;
    struct stat of_trace = {}; // who may not read the trace may not read its index either
    if (!write_all(file.number, index.encode(trace)) ||
        stat(trace.source().name().c_str(), &of_trace) != 0 ||
        fchmod(file.number, of_trace.st_mode & 0644) != 0 ||
        rename(temporary.c_str(), path_of(trace).c_str()) != 0)
        unlink(temporary.c_str());
}
} // namespace

std::optional<UnitIndex> index_of(TraceFile &trace, bool is_quiet)
{
    if (may_have_index(trace))
        // One byte more shows that it is too long.
        if (const auto bytes = read_beside(trace, UnitIndex::encoded_bytes(trace) + 1))
            if (auto index = UnitIndex::decode(*bytes, trace))
                return index;
    command::ReadProgress progress(!is_quiet);
    auto index = UnitIndex::build(trace, [&](uint64_t done_bytes) {
        progress.show(done_bytes, trace.source().size_bytes());
        return command_was_interrupted() == 0;
    });
    if (index && may_have_index(trace))
        write_beside(*index, trace);
    return index;
}
} // namespace nsdump
