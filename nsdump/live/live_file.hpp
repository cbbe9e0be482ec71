// SPDX-License-Identifier: MIT
// live: a file in memory that a recorder writes -> its new chunks; gives back what was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nsdump
{
// Holds what the recorder has written since the last take(), which is at most what the rings hold.
class LiveFile
{
public:
    LiveFile(); // throws std::system_error
    ~LiveFile();
    LiveFile(const LiveFile &) = delete;
    LiveFile &operator=(const LiveFile &) = delete;

    int descriptor() const { return fd_; } // for the recorder
    uint64_t new_bytes() const;
    // The trace's header, followed by the chunks since the last call; empty if there are none.
    // Call it while the recorder does not write.
    std::vector<std::byte> take();

private:
    int fd_;
    uint64_t taken_bytes_ = 0;
    std::vector<std::byte> header_;
};
} // namespace nsdump
