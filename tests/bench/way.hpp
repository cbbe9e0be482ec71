// SPDX-License-Identifier: MIT
// What the ways of a packet from an XDP program to this process have in common.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>

namespace bench
{
constexpr uint32_t kWayBytes = 1 << 25; // room for packets between the program and the reader
constexpr uint32_t kBatch = 256;        // packets that are taken before their room is free again

// What a reader has got.  It looks at all bytes of a packet, as functions that need whole packets
// do.
struct Taken {
    uint64_t packets = 0;
    uint64_t different = 0; // from the first one, in length or content
    uint64_t first_sum = 0;

    void add(const uint8_t *packet, uint32_t bytes)
    {
        uint64_t sum = bytes, word = 0;
        for (; bytes >= sizeof(word); bytes -= sizeof(word), packet += sizeof(word)) {
            std::memcpy(&word, packet, sizeof(word));
            sum += word;
        }
        for (; bytes > 0; --bytes)
            sum += *packet++;
        if (packets++ == 0)
            first_sum = sum;
        different += sum != first_sum;
    }
};

// A way out of the kernel: a program, and a reader that takes what it has written.
struct Way {
    int program;
    std::function<void(Taken &)> take;
};
} // namespace bench
