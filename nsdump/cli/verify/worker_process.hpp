// SPDX-License-Identifier: MIT
// verify: a worker in a process of its own, with the file of its trace.
#pragma once

#include <string>

#include <sys/types.h>

#include "cli/verify/worker.hpp"

namespace nsdump::verify
{
// Memory that the workers share with this process.
class Reports
{
public:
    Reports();
    ~Reports();
    Reports(const Reports &) = delete;
    Reports &operator=(const Reports &) = delete;
    SharedReports &shared() const { return *reports_; }

private:
    void *memory_;
    SharedReports *reports_;
};

class WorkerProcess
{
public:
    // Throws std::runtime_error.
    WorkerProcess(const Work &work, SharedReports &reports, unsigned number);
    ~WorkerProcess(); // kills it if it still runs
    WorkerProcess(const WorkerProcess &) = delete;
    WorkerProcess &operator=(const WorkerProcess &) = delete;

    bool is_over();
    // Empty: it has ended by itself.
    std::string fault() const;
    std::string trace() const; // its path

private:
    int file_;
    pid_t pid_ = -1;
    int status_ = 0;
    bool is_over_ = false;
};
} // namespace nsdump::verify
