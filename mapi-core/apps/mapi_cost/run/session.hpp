// SPDX-License-Identifier: MIT
// session: one libnsprobe session with its trace in the temporary folder; both end with the object.
#pragma once

#include <cstdint>
#include <string>

#include "run.hpp"

namespace mapi_cost
{
class Session
{
public:
    // `records`: estimated number; rings are large enough for all of them even if the drain does
    // not run.
    Session(Field field, const RunSettings &settings, std::uint64_t step_every,
            std::uint64_t records, const TempFolder &folder);
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
