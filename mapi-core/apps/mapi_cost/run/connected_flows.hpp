// SPDX-License-Identifier: MIT
// connected_flows: one load and a device -> running flows and the readers of their packets and
// results.
#pragma once

#include <string>
#include <vector>

#include "readers.hpp"
#include "run.hpp"

namespace mapi_cost
{
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
