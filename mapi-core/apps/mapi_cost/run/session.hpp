// SPDX-License-Identifier: MIT
// session: settings of a run; one libnsprobe session with its trace in the temporary folder; both
// end with the object.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <mapi/packet.h>
#include <nsprobe/session.h>

#include "mapi_cost/source/temp_folder.hpp"
#include "trace_sums.hpp"

namespace mapi_cost
{
// An error from libnsprobe, with its text.
class SessionError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// A text of libnsprobe, which names options of its own, with those of this program.
std::string in_terms_of_program(std::string text);

struct RunSettings {
    uint64_t packets =
        200'000;          // in a time pass: the minimum for a capture, the limit for a live device
    uint64_t seconds = 5; // limit of a pass on a live device, or of its recording
    unsigned batch_packets = MAPI_BATCH_MAX;
    nsp_clock_mode clock = NSP_CLOCK_ORDERED;
    nsp_counter_source source = NSP_SOURCE_AUTO;
    unsigned step_units = 10; // batches to count by single-stepping
    bool is_thinned = true;   // passes by random thinning show what the probes inside slices cost
};

struct SessionRequest {
    Field field = Field::kTicks;
    uint64_t step_every = 1;
    uint64_t records = 0; // estimated; rings have room for all even if the drain does not run
    bool is_thinned = false;
};

class Session
{
public:
    Session(const SessionRequest &request, const RunSettings &settings, const TempFolder &folder);
    ~Session();
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    // Closes the session; the trace is complete afterwards.
    const std::string &close();

private:
    std::string trace_;
    bool is_open_ = false;
};

// Whether counts come from single-stepping; asks libnsprobe once per source.
bool is_stepped(nsp_counter_source source, const TempFolder &folder);
} // namespace mapi_cost
