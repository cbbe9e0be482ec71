// SPDX-License-Identifier: MIT
// output: text -> standard output, or a file that is whole or not there.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace mapi_cost
{
class OutputError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// Two names for one file, one of which would be lost.
class OutputClash : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// For the time before anything is measured.  Throws OutputClash when an output is the capture, another output or standard
// output, and OutputError when it could not be written.  Empty names are none.
void check_outputs(const std::string &capture, const std::vector<std::string> &outputs);

// "-" is standard output.  A reader that closed the pipe is no error.  A symbolic link stays and a file keeps its mode.
void write_whole(const std::string &path, const std::string &text);
} // namespace mapi_cost
