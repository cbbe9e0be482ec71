// SPDX-License-Identifier: MIT
// One packet: an engine gives a function one Ethernet frame -> whether it passes, and the result.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "engine/node/node.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/functions/frame_bytes.hpp"

namespace test_support
{
class OnePacket
{
public:
    OnePacket(const mapi_function &function, const std::vector<int64_t> &numbers,
              const frame_bytes::Bytes &frame)
        : node_(function, arguments(numbers), mapi_driver_info{}, totals_,
                std::make_shared<mapi::engine::Client>(), mapi::engine::FlowOptions{})
    {
        const mapi_packet packet = {
            frame.data(), uint32_t(frame.size()), uint32_t(frame.size()), 1000000000, 1, 0, 0};
        mapi_batch batch;
        mapi_batch_fill(&batch, &packet, 1);
        passes_ = node_.run(batch, batch.all) != 0;
        node_.end();
    }

    bool passes() const { return passes_; }

    template <class Result> Result result() const
    {
        std::vector<uint64_t> words(mapi::engine::Published::words_for(node_.output().bytes()));
        node_.read_result(words.data());
        Result result;
        memcpy(&result, words.data(), sizeof(result));
        return result;
    }

private:
    static mapi::engine::Arguments arguments(const std::vector<int64_t> &numbers)
    {
        mapi::engine::Arguments arguments;
        for (const int64_t number : numbers)
            arguments.push_back({'i', number, "", {}});
        return arguments;
    }

    const std::shared_ptr<mapi::engine::DeviceTotals> totals_ =
        std::make_shared<mapi::engine::DeviceTotals>();
    mapi::engine::Node node_;
    bool passes_ = false;
};
} // namespace test_support
