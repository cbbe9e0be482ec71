// SPDX-License-Identifier: MIT
// counts: what a reader has seen so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mapi_reader
{
struct Counts {
    uint64_t received = 0; // packets that the work was done on
    uint64_t dropped = 0;  // reported by the system as lost
};

class Reader
{
public:
    Reader() = default;
    virtual ~Reader() = default;
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;

    // Of the flows, so many in all from now on.
    virtual void connect(size_t) {}
    virtual Counts counts() = 0;
    // Sum over all filters or strings, or of the flows' last functions.
    virtual uint64_t matched() = 0;
    // Where the work is done, such as "kernel".
    virtual std::string place() = 0;
};
} // namespace mapi_reader
