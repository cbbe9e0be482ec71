// SPDX-License-Identifier: MIT
// A session for a test: options -> probes on, until close() returns the library's counts and the
// trace as read back.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>

#include <nsprobe/session.h>

#include "support/catch.hpp"
#include "support/record_reader.hpp"
#include "support/temp_dir.hpp"

namespace test_support
{
inline uint64_t lost_sum(const nsp_session_counts &counts)
{
    return std::accumulate(std::begin(counts.lost), std::end(counts.lost), uint64_t{0});
}

struct SessionResult {
    int err;
    nsp_session_counts counts;
    Trace trace;
};

class ProbeSession
{
public:
    explicit ProbeSession(const std::string &options = "calibration=no")
    {
        const int err =
            nsp_session_configure(("output=" + path().string() + " " + options).c_str());
        INFO(nsp_last_error());
        REQUIRE(err == 0);
        open_ = true;
    }
    ~ProbeSession()
    {
        if (open_)
            nsp_session_close(nullptr);
    }
    std::filesystem::path path() const { return dir_ / "trace.nsl"; }

    SessionResult close()
    {
        SessionResult result{};
        result.err = nsp_session_close(&result.counts);
        open_ = false;
        result.trace = read_trace(path());
        return result;
    }

private:
    TempDir dir_;
    bool open_ = false;
};

// Three independent counts must agree: the program's, the library's and the file's.
inline void require_accounted(const SessionResult &result)
{
    REQUIRE(result.err == 0);
    REQUIRE(result.trace.complaint() == "");
    REQUIRE(result.trace.has_footer);
    REQUIRE(result.counts.issued == result.counts.drained + lost_sum(result.counts));
    REQUIRE(result.trace.issued() == result.counts.issued);
    REQUIRE(result.trace.records.size() == result.counts.drained);
}

inline void require_accounted(const SessionResult &result, uint64_t issued_by_the_program)
{
    require_accounted(result);
    REQUIRE(result.counts.issued == issued_by_the_program);
}
} // namespace test_support
