// SPDX-License-Identifier: MIT
// read_calls: a flow expression as the user writes it -> calls.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "flow_expression/call.hpp"

namespace flow_expression
{
// The text names the offending word.
class ExpressionError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// "BPF_FILTER 'tcp port 80' | TO_BUFFER 1": words, quoted if they contain blanks or bars, with a
// bar between functions; "@2" is the flow's second function.  The types of a function's arguments
// come from its table, through libmapi.  Throws ExpressionError.
std::vector<Call> read_calls(const std::string &text);
} // namespace flow_expression
