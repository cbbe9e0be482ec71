// SPDX-License-Identifier: MIT
// Input file: a file or pipe -> its bytes.
#pragma once

#include <atomic>
#include <string>

#include "drivers/bytes/byte_source.hpp"

namespace mapi::drivers
{
// read() instead of mmap(): with a mapping the reader would get SIGBUS when the file is truncated,
// and packets could change while functions examine them.
class InputFile : public ByteSource
{
public:
    // Throws CaptureError if the file cannot be opened.
    // file: a descriptor to read from its start, which stays the caller's; path is only for
    // messages then.  -1: open path, or use standard input if path is "-".
    explicit InputFile(const std::string &path, int file = -1);
    ~InputFile() override;
    InputFile(const InputFile &) = delete;
    InputFile &operator=(const InputFile &) = delete;

    size_t read(uint8_t *to, size_t room) override;
    bool has_offsets() const override { return is_regular_; }
    size_t read_at(uint64_t offset, uint8_t *to, size_t room) override;
    void skip_to(uint64_t offset) override { position_ = offset; }
    bool rewind() override;
    void interrupt() override;
    bool is_open_ended() const override { return !is_regular_; }
    uint64_t rest_bytes() const override;

private:
    void wait_for_input() const;
    void close_own();

    const std::string path_;
    int fd_;
    bool is_own_ = false;
    int stop_fd_ =
        -1; // readable after interrupt(); not used for a regular file, whose reads never wait
    std::atomic<bool> is_interrupted_ = false;
    bool is_regular_ = false; // not a pipe or a device
    uint64_t position_ = 0;   // bytes read so far
};
} // namespace mapi::drivers
