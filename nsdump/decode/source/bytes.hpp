// SPDX-License-Identifier: MIT
// decode: file or memory -> bytes at an offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nsdump
{
class ByteSource
{
public:
    virtual ~ByteSource() = default;

    virtual const std::string &name() const = 0;
    virtual uint64_t size_bytes() const = 0;
    // Of a file with a name, since 1970; 0 for other sources.
    virtual uint64_t modified_ns() const { return 0; }
    // Descriptor of a file that can be mapped; -1 for other sources.
    virtual int file() const { return -1; }
    // Returns less than `bytes` only at the end of the source; throws TraceError if reading fails.
    virtual size_t read_at(uint64_t offset, void *to, size_t bytes) = 0;
};

// "-" is standard input, which has to be a file then.
//
// Reads with pread into the caller's buffer: if a trace is truncated while being read, pread
// returns a short read where a mapping would raise SIGBUS.
std::unique_ptr<ByteSource> open_file(const std::string &path);
std::unique_ptr<ByteSource> bytes_in_memory(std::vector<std::byte> bytes, std::string name);
} // namespace nsdump
