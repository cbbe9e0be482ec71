// SPDX-License-Identifier: MIT
// connected_flows: one load and a device -> running flows, and the readers of their packets and
// results; without them, a file device would wait forever.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "mapi_cost/source/mapi_handle.hpp"
#include "mapi_cost/source/workload.hpp"

namespace mapi_cost
{
// Share of the packets that reached a function, by position in the chain.
struct Reach {
    std::string function;
    uint64_t packets = 0;
    uint64_t passed = 0;
};

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
        uint64_t copies_read = 0;
    };

    std::vector<Flow> flow_; // one, or none after it is closed
    std::vector<Buffer> buffers_;
    std::vector<std::thread> threads_; // read results, for which there is only a blocking call
};

class ConnectedFlows
{
public:
    ConnectedFlows(const Load &load, const std::string &device);

    // Reads what is available and waits briefly; true if the flows have ended.  Throws
    // command::Interrupted.
    bool wait_a_little();
    // For the first flow.
    std::vector<Reach> reach() const;

private:
    struct Function {
        std::string name;
        int id;
    };

    std::vector<Function> first_;
    std::vector<Readers> flows_;
    bool has_copies_ = false;
};
} // namespace mapi_cost
