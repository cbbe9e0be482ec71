// SPDX-License-Identifier: MIT
// options: command line -> structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "captures/source.hpp"

namespace qos
{
enum ExitCode {
    kExitDone = 0,
    kExitIncomplete = 1,
    kExitUsage = 2,
    kExitRefused = 3,
    kExitInterrupted = 130
};

struct CollectOptions {
    captures_source::SourceOptions source;
    std::string point;
    std::string store;
    std::string filter; // empty: all packets
    int64_t below = 0;  // of 2^32 hash values
    uint64_t key = 0;
    uint64_t payload_bytes = 64;
    bool is_quiet = false;
    double seconds = 0;        // how long to read a device; 0: until Ctrl-C
    double patience_s = 30;    // how long to wait for the store at the end
    uint64_t buffer = 1 << 18; // packets that wait for the store
};

struct ReportOptions {
    std::string store;
    std::string from; // points
    std::string to;
    std::string format = "text";
    std::string output;
    int64_t below = 0;            // less than collected; 0: as collected
    double interval_s = 0;        // 0: no intervals
    double last_s = 0;            // only the last part of what each point has seen; 0: all
    double window_s = 10;         // how long copies of a packet may be apart
    uint64_t flows = 0;           // at most so many in the report; 0: all
    bool is_synchronised = false; // the user says so
    bool is_unsynchronised = false;
    bool is_one_way = false;  // all packets go from `from` to `to`
    bool is_all_time = false; // what is missing is lost, whatever time the points cover
    bool is_quiet = false;
};

struct Options {
    bool is_report = false;
    CollectOptions collect;
    ReportOptions report;
};

// Returns an exit code if the program should end now.
std::optional<int> parse_options(int argc, char **argv, Options &options);

// The store without the password that its address may have, for messages.
std::string shown_store(const std::string &store);

// "5%", "0.05" -> number of hash values; nullopt if it is not more than 0 and at most 1.
std::optional<int64_t> hashes_below(const std::string &rate);
} // namespace qos
