// SPDX-License-Identifier: MIT
// Rings far too small for the load: every loss is counted, for both policies and kinds.
#include "work.hpp"

using namespace stress;

TEST_CASE("under overflow, every record is drained or counted as lost", "[stress][overflow]")
{
    for (const auto &kind : kinds())
        for (const char *full : {"discard", "overwrite"}) {
            INFO(kind << ' ' << full);
            test_support::ProbeSession session("calibration=no ring=4K " + kind + " full=" + full);
            const auto issued = run_threads(4, [](unsigned) { return write_units(100000); });
            const auto result = session.close();
            require_accounted(result, issued);
            REQUIRE(is_whole(result.trace));
            CHECK(test_support::lost_sum(result.counts) > 0);
            const bool overwrite = std::string(full) == "overwrite";
            CHECK(result.counts.lost[NSLICE_LOST_FULL] ==
                  (overwrite ? 0 : test_support::lost_sum(result.counts)));
        }
}

TEST_CASE("with enough room, nothing is lost", "[stress][overflow]")
{
    for (const auto &kind : kinds()) {
        test_support::ProbeSession session("calibration=no ring=64M " + kind);
        const auto issued = run_threads(4, [](unsigned) { return write_units(40000); });
        const auto result = session.close();
        require_accounted(result, issued);
        CHECK(result.counts.drained == issued);
        REQUIRE(is_whole(result.trace));
    }
}

TEST_CASE("a session with mode ordered and the general path has no uncounted losses",
          "[stress][overflow]")
{
    for (const auto &kind : kinds())
        for (const char *options : {" clock=ordered", " clock=ordered full=overwrite"}) {
            test_support::ProbeSession session("calibration=no ring=32K " + kind + options);
            const auto issued = run_threads(3, [](unsigned) { return write_units(50000); });
            const auto result = session.close();
            require_accounted(result, issued);
            REQUIRE(is_whole(result.trace));
        }
}
