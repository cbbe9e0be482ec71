// SPDX-License-Identifier: MIT
// Counters of a PMU, where the machine shows one: totals that rise, through the page and through read().
#include "support/probe_session.hpp"

#include <nsprobe/probe.h>

#include "support/requires.hpp"

TEST_CASE("with a PMU rdpmc and perf-read count at least the instructions that ran", "[libnsprobe][perf]")
{
    test_support::TempDir dir;
    int sources = 0;
    for (const std::string source : {"rdpmc", "perf-read"}) {
        if (nsp_session_configure(("calibration=no counters=instructions source=" + source + " output=" +
                                   (dir / "t.nsl").string()).c_str()))
            continue;
        nsp_session_close(nullptr);
        ++sources;
        test_support::ProbeSession session("calibration=no counters=instructions source=" + source);
        for (int i = 0; i < 100; ++i) {
            NET_SLICE_START(work);
            __asm__ volatile(".rept 1000\n\tnop\n\t.endr");
            NET_SLICE_STOP(work);
        }
        const auto result = session.close();
        require_accounted(result, 200);
        CHECK(result.trace.info.at("counters.source") == source);
        for (std::size_t i = 0; i + 1 < result.trace.records.size(); i += 2) {
            REQUIRE(result.trace.records[i].words == 1);
            const auto count = result.trace.records[i + 1].word[0] - result.trace.records[i].word[0];
            CHECK(count >= 1000);
            CHECK(count < 1500);
        }
    }
    if (sources == 0)
        test_support::skip("this machine shows no PMU to programs");
}
