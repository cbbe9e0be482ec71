// SPDX-License-Identifier: MIT
// run_statistics: the kernel measures each run of a BPF program while this object exists.
#pragma once

#include <string>

namespace mapi_reader
{
// Held by a descriptor: they end with the process, whatever ends it.
class RunStatistics
{
public:
    RunStatistics();
    ~RunStatistics();
    RunStatistics(const RunStatistics &) = delete;
    RunStatistics &operator=(const RunStatistics &) = delete;

    // Why they are off; empty if they are on.
    const std::string &why_not() const { return why_not_; }

private:
    int descriptor_ = -1;
    std::string why_not_;
};
} // namespace mapi_reader
