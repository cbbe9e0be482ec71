// SPDX-License-Identifier: MIT
// Input file: a file or pipe -> its bytes.
#pragma once

#include <atomic>
#include <string>

#include "drivers/bytes/byte_source.hpp"

namespace mapi::drivers
{
// read() and not mmap: a mapping ends its reader by SIGBUS when somebody truncates the file, and packets could change while functions look
// at them.
class InputFile : public ByteSource
{
public:
    // Throws CaptureError when the file cannot be opened.
    // file: read that descriptor, which stays the caller's and open, from its start, and use path in messages alone; -1: open path, or standard input where that is "-".
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
    int stop_fd_ = -1; // readable after interrupt(); a regular file has none, since it never waits
    std::atomic<bool> is_interrupted_ = false;
    bool is_regular_ = false; // a file on a disk, not a pipe or a device
    uint64_t position_ = 0;   // bytes that were read
};
} // namespace mapi::drivers
