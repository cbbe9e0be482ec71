// SPDX-License-Identifier: MIT
// terminal: Ctrl-C -> a flag; long work -> a progress line on a terminal.
#pragma once

#include <string>

namespace calibrate
{
// After the first SIGINT or SIGTERM was_interrupted() is true; a second one kills.
void catch_interrupts();
bool was_interrupted();

// Writes to standard error, and only when that is a terminal.
class Progress
{
public:
    explicit Progress(bool is_wanted);
    ~Progress();
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    void show(const std::string &line);

private:
    bool is_on_;
    bool is_shown_ = false;
};
} // namespace calibrate
