// SPDX-License-Identifier: MIT
// Copy folder: ids of rules -> names of new files, so that no existing file is overwritten.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/command/output.hpp"

namespace sids
{
// A copy cannot be created.
class CopyError : public command::OutputError
{
public:
    using OutputError::OutputError;
};

class CopyFolder
{
public:
    // Empty: the current folder.  Throws command::UsageError if it cannot be written to.
    explicit CopyFolder(const std::string &path);

    // Creates FOLDER/ID.pcapng or, if that exists, the first of ID-2.pcapng, ID-3.pcapng ... that
    // does not.  Throws CopyError.
    std::string create(uint32_t id);
    // The files made since the last call of keep_made(): for rules that were not connected.
    void remove_made();
    void keep_made() { made_.clear(); }

private:
    std::string path_;
    std::vector<std::string> made_;
};

// As many open files as the system allows: each copy is one.
void allow_many_files();
} // namespace sids
