// SPDX-License-Identifier: MIT
// mapi_flows: flow expressions -> connected flows of one device; packets of TO_BUFFER are
// discarded.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "mapi_reader/counts.hpp"

namespace mapi_reader
{
class MapiFlows : public Reader
{
public:
    MapiFlows(std::string device, std::vector<std::string> expressions);
    ~MapiFlows() override;

    // Throws std::runtime_error.
    void connect(size_t count) override;
    Counts counts() override;
    uint64_t matched() override;
    std::string place() override;

private:
    struct Flow {
        int number = 0;
        std::vector<int> functions = {};
    };

    void discard(int flow, int function);

    const std::string device_;
    const std::vector<std::string> expressions_;
    std::vector<Flow> flows_;
    std::atomic<bool> is_ending_ = false;
    std::atomic<uint64_t> discarded_ = 0;
    std::thread discarding_; // of the first flow with a TO_BUFFER
};
} // namespace mapi_reader
