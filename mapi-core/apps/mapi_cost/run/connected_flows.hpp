// SPDX-License-Identifier: MIT
// connected_flows: one load and a device -> its flows at work, and whoever reads what they give.
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

    // Reads what is there, and waits; true when the flows have ended.  Throws command::Interrupted.
    bool wait_a_little();
    // Of the first flow.
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
