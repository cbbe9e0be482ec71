// SPDX-License-Identifier: MIT
// Arguments: what a client gave to a function, owned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mapi::engine
{
class Chain;

// A function of a flow, as an argument of another one.  Does not keep the flow.
struct Target {
    std::weak_ptr<Chain> chain;
    size_t position = 0; // in the chain
    bool is_count = false; // its result only grows by what packets add
};

struct Argument {
    char kind = 0; // letter of the function's args; 0: an optional one that was left out
    int64_t number = 0;
    std::string text;
    Target target; // of kind 'f'

    // Never equal with a target: what refers to a result begins where it was applied.
    bool operator==(const Argument &other) const
    {
        return kind == other.kind && kind != 'f' && number == other.number && text == other.text;
    }
};

using Arguments = std::vector<Argument>;
} // namespace mapi::engine
