// SPDX-License-Identifier: MIT
// scenario: the rows of D3.4 (2004), Tables 2 to 4, and flows of --flow, as data: functions,
// packets to run on, published figures; and the calls that they become.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flow_expression/call.hpp"

namespace mapi_cost
{
using flow_expression::Argument;
using flow_expression::Call;
using flow_expression::Steps;

enum class Function {
    kCounter,
    kFilter,
    kSample,       // passes some packets
    kSampleAll,    // draws for each packet, but all pass
    kSearchAbsent, // a string that is in no packet, so each packet is searched to its end
    kSearchText,   // the user's string
    kBuffer,
};

enum class Traffic {
    kWhole,        // the capture
    kMatching,     // only packets that pass the filter, so that each reaches what follows it
    kMade,         // frames of one size
    kMadeMatching, // the same, with headers of packets that pass the filter
};

enum class Quantity {
    kPacket,      // what the packet thread spends on one packet
    kNextPacket,  // one mapi_get_next_pkt()
    kReadResults, // one mapi_read_results()
    kFurtherSame, // what a further flow with the same arguments adds to a packet
    kFurtherDifferent,
};

// As published in 2004.  Tables 2 and 3 include one set of PAPI reads; in the differences of Table
// 4 it cancels.
struct PaperFigures {
    std::optional<double> scampi_instructions = {};
    std::optional<double> scampi_cycles = {};
    std::optional<double> intel_instructions = {};
    std::optional<double> intel_cycles = {};
};

inline constexpr int kOwnTable = 0;   // flows of --flow
inline constexpr int kModelTable = 1; // only for the additive model
inline constexpr double kPapiInstructions = 265;
inline constexpr double kPapiCycles = 700;

struct Scenario {
    std::string id; // for --scenario
    int table;
    std::string name;
    unsigned frame_bytes; // 0: the sizes of the capture
    Traffic traffic;
    Quantity quantity;
    std::vector<Function> functions;
    PaperFigures paper;
    std::vector<Call> own = {}; // of --flow, instead of `functions`

    bool is_call() const
    {
        return quantity == Quantity::kNextPacket || quantity == Quantity::kReadResults;
    }
    bool begins_with_filter() const;
    bool is_further() const
    {
        return quantity == Quantity::kFurtherSame || quantity == Quantity::kFurtherDifferent;
    }
};

const std::vector<Scenario> &all_scenarios();

// For each of these scenarios with several functions: each function by itself on the same packets.
// Only if the scenario without functions is among them, without which nothing can be compared.
std::vector<Scenario> companions_of(const std::vector<Scenario> &scenarios);

// The figures without the PAPI reads, if they included them.
PaperFigures net_of_papi(const Scenario &scenario);

// number: of the flow, starting at 1.  Throws flow_expression::ExpressionError.
Scenario own_flow(const std::string &text, unsigned number);

struct CallWords {
    std::string filter;
    std::string text;                     // to search for
    std::vector<std::string> absent = {}; // texts that are in no packet, by variant
    bool reader_waits = true;
};

// variant: selects arguments, for flows that differ.
std::vector<Call> calls_of(const Scenario &scenario, unsigned variant, const CallWords &words);
} // namespace mapi_cost
