// SPDX-License-Identifier: MIT
// readers: a connected flow -> readers of its packets and results; without them, a file device
// would wait forever.
#pragma once

#include <thread>
#include <vector>

#include "mapi_handle.hpp"

namespace mapi_cost
{
// Owns one connected flow.
class Readers
{
public:
    Readers(Flow flow, const std::vector<flow_expression::Call> &calls,
            const std::vector<int> &functions);
    ~Readers();
    Readers(Readers &&) = default;
    Readers(const Readers &) = delete;
    Readers &operator=(const Readers &) = delete;

    Flow &flow() { return flow_.front(); }
    const Flow &flow() const { return flow_.front(); }
    bool has_copies() const { return !buffers_.empty(); }
    // Takes only what TO_BUFFER already has.  A reader that slept in mapi_get_next_pkt() would make
    // the packet thread wake it with a system call per batch, a cost that a busy reader does not
    // cause.
    void read_copies(bool to_the_end);

private:
    struct Buffer {
        int function;
        std::uint64_t copies_read = 0;
    };

    std::vector<Flow> flow_; // one, or none after it is closed
    std::vector<Buffer> buffers_;
    std::vector<std::thread> threads_; // read results, for which there is only a blocking call
};
} // namespace mapi_cost
