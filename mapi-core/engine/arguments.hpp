// SPDX-License-Identifier: MIT
// Arguments: what a client gave to a function, owned.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mapi::engine
{
struct Argument {
    char kind = 0; // letter of the function's args; 0: an optional one that was left out
    int64_t number = 0;
    std::string text;

    bool operator==(const Argument &) const = default;
};

using Arguments = std::vector<Argument>;
} // namespace mapi::engine
