// SPDX-License-Identifier: MIT
// Errors for filter expressions and search patterns.
#pragma once

#include <stdexcept>
#include <string>

namespace mapi::match
{
// libpcap's own message for an expression that does not compile.
class FilterError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// The numbers that MAPI publishes.
enum class PatternFault : int {
    kUnterminatedPipe = 3503, // a hex block without its closing pipe
    kDepthTooSmall = 3504,    // no alternative fits into the searched bytes
    kInvalid = 3505,          // empty alternative, bad hex digits, negative offset or depth
};

class PatternError : public std::runtime_error
{
public:
    PatternError(PatternFault fault, const std::string &message)
        : std::runtime_error(message), fault_(fault)
    {
    }

    int code() const noexcept { return int(fault_); }

private:
    PatternFault fault_;
};
} // namespace mapi::match
