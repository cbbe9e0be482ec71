// SPDX-License-Identifier: MIT
// cli: arguments that only a look at the files shows to be wrong -> exit code 2.
#pragma once

#include <stdexcept>

namespace nsdump
{
class UsageError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};
} // namespace nsdump
