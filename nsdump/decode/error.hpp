// SPDX-License-Identifier: MIT
// decode: an unreadable file -> one exception whose text names file, place and remedy.
#pragma once

#include <stdexcept>

namespace nsdump
{
// Thrown only if nothing useful can be read; damage inside a trace is counted in a DamageLog
// instead.
class TraceError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};
} // namespace nsdump
