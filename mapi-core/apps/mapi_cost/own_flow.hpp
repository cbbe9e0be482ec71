// SPDX-License-Identifier: MIT
// own_flow: the functions of a flow as the user writes them -> a scenario.
#pragma once

#include <stdexcept>
#include <string>

#include "scenario.hpp"

namespace mapi_cost
{
// Names the word that is wrong.
class OwnFlowError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// "BPF_FILTER 'tcp port 80' | TO_BUFFER 1": words as in a shell, a function behind each bar; "@2" is the flow's second function.  What
// the words of a function are its table tells, which libmapi is asked for.  number: of the flow, from 1.
Scenario own_flow(const std::string &text, unsigned number);
} // namespace mapi_cost
