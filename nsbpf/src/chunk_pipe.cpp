// SPDX-License-Identifier: MIT
// Chunk pipe: headers and checksums.
#include "chunk_pipe.hpp"

#include <cerrno>
#include <cstddef>

#include <fcntl.h>
#include <unistd.h>

#include "common/crc32c/crc32c.h"
#include "identify.hpp"

namespace nsbpf
{
ChunkPipe::ChunkPipe()
{
    if (pipe2(ends_.data(), O_CLOEXEC) != 0)
        refuse("no pipe for its records", errno);
    fcntl(ends_[1], F_SETPIPE_SZ, 1 << 20); // less, if the user may not have so much
}

ChunkPipe::~ChunkPipe()
{
    close_writer();
    close_reader();
}

void ChunkPipe::close_reader()
{
    if (ends_[0] >= 0)
        close(ends_[0]);
    ends_[0] = -1;
}

void ChunkPipe::close_writer()
{
    if (ends_[1] >= 0)
        close(ends_[1]);
    ends_[1] = -1;
}

bool ChunkPipe::write_all(const void *bytes, size_t count)
{
    const char *from = static_cast<const char *>(bytes);
    while (count > 0) {
        const ssize_t written = ::write(ends_[1], from, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        from += written;
        count -= size_t(written);
    }
    return true;
}

bool ChunkPipe::write(nslice_chunk_header header, const void *payload, uint32_t payload_bytes)
{
    header.magic = NSLICE_CHUNK_MAGIC;
    header.header_bytes = sizeof(header);
    header.payload_bytes = payload_bytes;
    header.payload_crc32c = nslice_crc32c(payload, payload_bytes);
    header.header_crc32c = nslice_crc32c(&header, offsetof(nslice_chunk_header, header_crc32c));
    return write_all(&header, sizeof(header)) && write_all(payload, payload_bytes);
}

bool ChunkPipe::write_small(uint16_t kind, const std::string &payload)
{
    std::string padded = payload;
    padded.resize((payload.size() + 7) / 8 * 8);
    nslice_chunk_header header = {};
    header.kind = kind;
    header.sequence = sequence_[kind]++;
    return write(header, padded.data(), uint32_t(padded.size()));
}
} // namespace nsbpf
