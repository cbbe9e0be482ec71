// SPDX-License-Identifier: MIT
// temp_folder: TMPDIR, or a file system in memory if there is one -> a folder that is removed with
// its object.
#pragma once

#include <stdexcept>
#include <string>

namespace mapi_cost
{
class TempError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

class TempFolder
{
public:
    TempFolder();
    ~TempFolder();
    TempFolder(const TempFolder &) = delete;
    TempFolder &operator=(const TempFolder &) = delete;

    std::string file(const std::string &name) const { return path_ + "/" + name; }

private:
    std::string path_;
};
} // namespace mapi_cost
