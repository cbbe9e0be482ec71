// SPDX-License-Identifier: MIT
// workload: the user's capture -> capture files that scenarios run on, and the function arguments
// that go with them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mapi_handle.hpp"
#include "packets.hpp"
#include "scenario.hpp"
#include "temp_folder.hpp"

namespace mapi_cost
{
inline constexpr const char *kCommonFilter = "tcp";

// What one pass over the whole capture finds.
struct Survey {
    std::string path;
    std::string name; // as the user knows it
    uint64_t packets = 0;
    uint64_t wire_bytes = 0;
    uint64_t matches = 0;
    uint64_t unread_bytes = 0;
    bool is_damaged = false;
    std::string message; // libmapi's message about damage and malformed records, or empty
    int link_type = 1;
    std::string filter;
};

// An empty `filter` chooses one; `name` is for messages.  Throws MapiError if the capture or the
// filter is refused.
Survey survey_capture(const std::string &path, const std::string &name, const std::string &filter);

// Means per packet; nullopt: unknown.
struct MeanBytes {
    std::optional<double> captured = {}; // copied by TO_BUFFER
    std::optional<double> searched = {}; // read by a search for the user's string
};

// A capture file that is read repeatedly.
struct Workload {
    std::string path;
    uint64_t packets = 0;
    uint64_t buffer_bytes = 0; // space that its packets take in TO_BUFFER
    bool is_uniform = false;   // packets are alike, so a few represent all
    MeanBytes bytes = {};
};

// One chain of functions per flow.
struct Load {
    Workload workload;
    std::vector<std::vector<Call>> flows;
    bool is_compared = false; // with a run of the same packets through another number of flows
};

class Workloads
{
public:
    Workloads(const Survey &survey, std::string text, uint64_t packets, const TempFolder &folder);

    // The scenario with `flows` flows, whose functions have the same or different arguments as it
    // requires.
    Load load(const Scenario &scenario, unsigned flows, bool reader_waits = true);

private:
    const std::vector<Packet> &first_packets(bool is_matching);
    const Workload &workload(Traffic traffic, unsigned frame_bytes);
    Workload make(Traffic traffic, unsigned frame_bytes);

    const Survey &survey_;
    const std::string text_;
    const uint64_t packets_;
    const TempFolder &folder_;
    std::map<bool, std::vector<Packet>> taken_;
    std::map<std::pair<Traffic, unsigned>, Workload> made_;
    std::map<std::string, std::vector<std::string>> absent_; // by workload
};
} // namespace mapi_cost
