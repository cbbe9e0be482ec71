// SPDX-License-Identifier: MIT
// Log: records -> lines of JSON, written by a thread of its own.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/command/output.hpp"
#include "record.hpp"

namespace impair
{
// Appends the line of a packet.
void append_line(std::string &text, const Record &record);

class Log
{
public:
    // Throws command::OutputError and its like.
    Log(const std::string &path, const std::string &first_line);
    ~Log();
    Log(const Log &) = delete;
    Log &operator=(const Log &) = delete;

    // Records are kept until hand_over(), or until there are many.  Waits only if the disk is so
    // slow that a million records wait.
    void add(const Record &record);
    void hand_over();
    bool has_failed();
    // How often add() had to wait.
    uint64_t waits() const { return waits_; }

    // All records are written, then this line, and the file gets its name.  Throws what the thread
    // has met.
    void finish(const std::string &last_line);

private:
    void write();
    void stop();

    command::Output output_;
    std::vector<Record> collected_; // of the adding thread
    uint64_t waits_ = 0;

    std::mutex mutex_;
    std::condition_variable has_work_, has_room_;
    std::vector<Record> pending_;
    bool is_over_ = false;
    std::exception_ptr failure_;
    std::thread thread_;
};
} // namespace impair
