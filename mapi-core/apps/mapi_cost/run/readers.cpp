// SPDX-License-Identifier: MIT
// readers: a connected flow -> readers of its packets and results.
#include "readers.hpp"

namespace mapi_cost
{
Readers::Readers(Flow flow, const std::vector<flow_expression::Call> &calls,
                 const std::vector<int> &functions)
{
    flow_.push_back(std::move(flow));
    const int descriptor = this->flow().descriptor();
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (calls[i].function == "TO_BUFFER")
            buffers_.push_back({functions[i]});
        else if (mapi_get_poll_descriptor(descriptor, functions[i]) >= 0)
            threads_.emplace_back([descriptor, function = functions[i]] {
                while (mapi_read_results(descriptor, function)) {
                }
            });
    }
}

// Closing the flow ends the threads that wait for its results.
Readers::~Readers()
{
    flow_.clear();
    for (std::thread &thread : threads_)
        thread.join();
}

void Readers::read_copies(bool to_the_end)
{
    for (Buffer &buffer : buffers_) {
        const mapi_function_info_t info = flow().describe(buffer.function);
        // Only packets that the function has finished with; some that reached it may not be in the
        // buffer yet.
        for (const std::uint64_t there = info.passed_pkts - info.dropped;
             to_the_end || buffer.copies_read < there; ++buffer.copies_read)
            if (!mapi_get_next_pkt(flow().descriptor(), buffer.function))
                break;
    }
}
} // namespace mapi_cost
