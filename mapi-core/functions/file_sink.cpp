// SPDX-License-Identifier: MIT
// File sink: records -> an open file that ends with a whole one.
#include "functions/file_sink.hpp"

#include <cerrno>

#include <poll.h>
#include <unistd.h>

namespace mapi::functions
{
namespace
{
constexpr int kPatienceMs = 1000; // with a pipe that takes nothing, once its flow is closed
constexpr int kPollMs = 100;
} // namespace

FileSink::FileSink(int descriptor) : descriptor_(descriptor)
{
    if (ftruncate(descriptor_, 0) == 0) // no pipe
        lseek(descriptor_, 0, SEEK_SET);
}

// The next records begin where a reader looks for them.
int FileSink::write(const std::string &bytes, const IsGivenUp &is_given_up)
{
    const off_t begin = lseek(descriptor_, 0, SEEK_CUR);
    if (broken_)
        return broken_;
    if (write_all(bytes, is_given_up))
        return 0;
    const int error = errno;
    if (begin < 0)
        broken_ = error;
    else if (ftruncate(descriptor_, begin) == 0)
        lseek(descriptor_, begin, SEEK_SET);
    return error;
}

bool FileSink::write_all(const std::string &bytes, const IsGivenUp &is_given_up)
{
    size_t written = 0;
    while (written < bytes.size()) {
        const ssize_t count = ::write(descriptor_, bytes.data() + written, bytes.size() - written);
        if (count > 0)
            written += size_t(count);
        else if (count == 0 || (errno != EINTR && !(errno == EAGAIN && wait_for_reader(is_given_up))))
            return false;
    }
    return true;
}

// Of a pipe that is full.  False: it stays so, and nobody waits for its file any more.
bool FileSink::wait_for_reader(const IsGivenUp &is_given_up) const
{
    pollfd pipe = {descriptor_, POLLOUT, 0};
    for (int waited_ms = 0; poll(&pipe, 1, kPollMs) <= 0; waited_ms += kPollMs) {
        if (!is_given_up())
            waited_ms = 0;
        else if (waited_ms >= kPatienceMs)
            return false;
    }
    return true;
}
} // namespace mapi::functions
