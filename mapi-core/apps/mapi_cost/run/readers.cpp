// SPDX-License-Identifier: MIT
// readers: whoever reads what a flow's functions give one by one.
#include "readers.hpp"

namespace mapi_cost
{
Readers::Readers(Flow flow, const std::vector<flow_words::Call> &calls, const std::vector<int> &functions)
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

// A flow that is closed has no results to wait for.
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
        // Those that the function is done with: of the ones that came to it some may not be there yet.
        for (const std::uint64_t there = info.passed_pkts - info.dropped; to_the_end || buffer.copies_read < there; ++buffer.copies_read)
            if (!mapi_get_next_pkt(flow().descriptor(), buffer.function))
                break;
    }
}
} // namespace mapi_cost
