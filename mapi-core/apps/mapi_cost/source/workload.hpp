// SPDX-License-Identifier: MIT
// workload: the user's capture -> capture files that scenarios run on, and the function arguments that go with them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mapi_cost/run/mapi_handle.hpp"
#include "packets.hpp"
#include "scenario.hpp"
#include "temp_folder.hpp"

namespace mapi_cost
{
inline constexpr const char *kCommonFilter = "tcp";

// What one reading of the whole capture says.
struct Survey {
    std::string path;
    std::string name; // for the user
    std::uint64_t packets = 0;
    std::uint64_t wire_bytes = 0;
    std::uint64_t matches = 0;
    std::uint64_t unread_bytes = 0;
    bool is_damaged = false;
    std::string message; // what libmapi says about damage and odd records; empty without
    int link_type = 1;
    std::string filter;
};

// `filter` empty: one is chosen; `name` is what the user knows it by.  Throws MapiError when the capture or the filter is refused.
Survey survey_capture(const std::string &path, const std::string &name, const std::string &filter);

// Of a packet; none: not known.
struct MeanBytes {
    std::optional<double> captured = {}; // that TO_BUFFER copies
    std::optional<double> searched = {}; // that a search for the user's string reads
};

// A capture file that is read again and again.
struct Workload {
    std::string path;
    std::uint64_t packets = 0;
    std::uint64_t buffer_bytes = 0; // that its packets take in TO_BUFFER
    bool is_uniform = false;        // packets are alike: a few tell about all
    MeanBytes bytes = {};
};

// One chain of functions for each flow.
struct Load {
    Workload workload;
    std::vector<std::vector<Call>> flows;
    bool is_compared = false; // with the same packets through another number of flows
};

class Workloads
{
public:
    Workloads(const Survey &survey, std::string text, std::uint64_t packets, const TempFolder &folder);

    // The scenario with `flows` flows; functions are chosen so that flows have the same or different arguments.
    Load load(const Scenario &scenario, unsigned flows, bool reader_waits = true);

private:
    const std::vector<Packet> &first_packets(bool is_matching);
    const Workload &workload(Traffic traffic, unsigned frame_bytes);
    Workload make(Traffic traffic, unsigned frame_bytes);

    const Survey &survey_;
    const std::string text_;
    const std::uint64_t packets_;
    const TempFolder &folder_;
    std::map<bool, std::vector<Packet>> taken_;
    std::map<std::pair<Traffic, unsigned>, Workload> made_;
    std::map<std::string, std::vector<std::string>> absent_; // by workload
};
} // namespace mapi_cost
