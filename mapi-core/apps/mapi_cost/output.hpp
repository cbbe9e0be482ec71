// SPDX-License-Identifier: MIT
// output: text -> standard output, or a file that is whole or not there.
#pragma once

#include <stdexcept>
#include <string>

namespace mapi_cost
{
class OutputError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// "-" is standard output.  A reader that closed the pipe is no error.
void write_whole(const std::string &path, const std::string &text);
} // namespace mapi_cost
