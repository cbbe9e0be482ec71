// SPDX-License-Identifier: MIT
// readers: whoever reads what a flow's functions give one by one, so that a device that is a file does not wait for ever.
#pragma once

#include <thread>
#include <vector>

#include "mapi_handle.hpp"

namespace mapi_cost
{
// Of one flow, connected, which it outlives or closes.
class Readers
{
public:
    Readers(Flow flow, const std::vector<flow_words::Call> &calls, const std::vector<int> &functions);
    ~Readers();
    Readers(Readers &&) = default;
    Readers(const Readers &) = delete;
    Readers &operator=(const Readers &) = delete;

    Flow &flow() { return flow_.front(); }
    const Flow &flow() const { return flow_.front(); }
    bool has_copies() const { return !buffers_.empty(); }
    // Takes what is there of TO_BUFFER, never more: a reader that sleeps in mapi_get_next_pkt() would have the packet thread wake it with
    // a system call for each batch, which is not what a busy reader costs.
    void read_copies(bool to_the_end);

private:
    struct Buffer {
        int function;
        std::uint64_t copies_read = 0;
    };

    std::vector<Flow> flow_; // one, or none when it is closed
    std::vector<Buffer> buffers_;
    std::vector<std::thread> threads_; // of results, which can only be waited for
};
} // namespace mapi_cost
