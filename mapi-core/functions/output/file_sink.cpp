// SPDX-License-Identifier: MIT
// File sink: records -> an open file that ends with a complete record.
#include "functions/output/file_sink.hpp"

#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace mapi::functions
{
namespace
{
constexpr int kPatienceMs = 1000; // timeout for a blocked pipe after its flow is closed
constexpr int kPollMs = 100;

struct Whole {
    size_t bytes = 0;
    uint64_t records = 0;
};

// Counts the complete records among those whose first `there` bytes were written.
Whole whole_records(std::string_view records, size_t there, RecordBytes record_bytes)
{
    Whole whole;
    while (whole.bytes < there) {
        const size_t bytes = record_bytes(records.substr(whole.bytes));
        if (bytes > there - whole.bytes)
            break;
        whole.bytes += bytes;
        ++whole.records;
    }
    return whole;
}
} // namespace

FileSink::FileSink(int descriptor, RecordBytes record_bytes)
    : descriptor_(descriptor), record_bytes_(record_bytes)
{
    if (fcntl(descriptor_, F_GETFL) & O_APPEND)
        lseek(descriptor_, 0, SEEK_END);
    else if (ftruncate(descriptor_, 0) == 0) // not a pipe
        lseek(descriptor_, 0, SEEK_SET);
}

int FileSink::write(const std::string &bytes, const IsGivenUp &is_given_up)
{
    const off_t begin = lseek(descriptor_, 0, SEEK_CUR);
    if (broken_)
        return broken_;
    if (write_some(bytes, is_given_up) == bytes.size())
        return 0;
    const int error = errno;
    end_at(begin, error);
    return error;
}

int FileSink::write_records(const std::string &records, const IsGivenUp &is_given_up,
                            uint64_t &written)
{
    const off_t begin = lseek(descriptor_, 0, SEEK_CUR);
    written = 0;
    if (broken_)
        return broken_;
    const size_t there = write_some(records, is_given_up);
    if (there == records.size())
        return 0;
    const int error = errno;
    Whole whole;
    if (begin >= 0 && record_bytes_) // what is in a pipe may already have been read
        whole = whole_records(records, there, record_bytes_);
    written = whole.records;
    end_at(begin < 0 ? begin : begin + off_t(whole.bytes), error);
    return error;
}

// Truncates the file so that the next records begin where a reader expects them.
void FileSink::end_at(off_t end, int error)
{
    if (end < 0 || ftruncate(descriptor_, end) != 0 || lseek(descriptor_, end, SEEK_SET) != end)
        broken_ = error;
}

// Returns the number of bytes written; errno is why it stopped early.
size_t FileSink::write_some(const std::string &bytes, const IsGivenUp &is_given_up)
{
    size_t written = 0;
    while (written < bytes.size()) {
        const ssize_t count = ::write(descriptor_, bytes.data() + written, bytes.size() - written);
        if (count > 0)
            written += size_t(count);
        else if (count == 0 ||
                 (errno != EINTR && !(errno == EAGAIN && wait_for_reader(is_given_up))))
            break;
    }
    return written;
}

// Waits for a full pipe.  Returns false if it stays full and no caller waits for the file any
// longer.
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
