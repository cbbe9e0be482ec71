// SPDX-License-Identifier: MIT
// call: one mapi_apply_function() as data.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace flow_expression
{
// Functions of the same flow, by position from 1; the argument's letter (r, f, S, F) decides how
// they are passed.
struct Steps {
    char letter;
    std::vector<unsigned> places = {};

    bool operator==(const Steps &) const = default;
};

using Argument = std::variant<std::string, int64_t, Steps>;

struct Call {
    std::string function;
    std::vector<Argument> arguments = {};

    bool operator==(const Call &) const = default;
};
} // namespace flow_expression
