// SPDX-License-Identifier: MIT
// analyse: rows of slices that do not fit in memory -> a temporary file.
#include "analyse/statistics/spill.hpp"

#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "analyse/statistics/unnamed_file.hpp"
#include "common/file_error/file_error.h"
#include "decode/error.hpp"

namespace nsdump
{
SpillFile::~SpillFile()
{
    if (file_ >= 0)
        close(file_);
}

bool SpillFile::open()
{
    file_ = open_unnamed_file();
    return file_ >= 0;
}

bool SpillFile::append(NameId name, const void *row)
{
    if (is_full_ || next_.size() == kNone ||
        (buffer_.size() == kBufferRows * row_bytes_ && !write_buffer())) {
        is_full_ = true;
        return false;
    }
    const auto number = uint32_t(next_.size());
    next_.push_back(kNone);
    const auto *const bytes = static_cast<const std::byte *>(row);
    buffer_.insert(buffer_.end(), bytes, bytes + row_bytes_);
    if (name >= chains_.size())
        chains_.resize(name + 1);
    Chain &chain = chains_[name];
    (chain.first == kNone ? chain.first : next_[chain.last]) = number;
    chain.last = number;
    return true;
}

// After a failure the rows stay in the buffer.
bool SpillFile::write_buffer()
{
    if (file_ < 0 && !open())
        return false;
    const std::byte *const data = buffer_.data();
    const size_t bytes = buffer_.size();
    for (size_t done = 0; done < bytes;) {
        const ssize_t now =
            pwrite(file_, data + done, bytes - done, off_t(written_ * uint64_t{row_bytes_} + done));
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return false;
        done += size_t(now);
    }
    written_ += uint32_t(buffer_.size() / row_bytes_);
    buffer_.clear();
    return true;
}

const std::byte *SpillFile::read(uint32_t number)
{
    if (number >= written_)
        return buffer_.data() + (number - written_) * row_bytes_;
    std::byte *const data = read_.data();
    for (size_t done = 0; done < row_bytes_;) {
        const ssize_t now = pread(file_, data + done, row_bytes_ - done,
                                  off_t(number * uint64_t{row_bytes_} + done));
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            throw TraceError(fmt::format("{}: cannot read: {}", kTemporaryFolders,
                                         now < 0 ? nslice_read_error(errno) : "truncated"));
        done += size_t(now);
    }
    return read_.data();
}
} // namespace nsdump
