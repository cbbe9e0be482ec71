// SPDX-License-Identifier: MIT
// Looks at a core -> is it shared, does its frequency change; and what a session says of them.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

extern "C" {
#include "calibrate/surroundings.h"
}

namespace
{
constexpr double kDependent = 3, kIndependent = 0.25; // ticks, on an undisturbed core

nsp_core_look look(double slower = 1, double shared = 1, double gap = 20)
{
    return {kDependent * slower, kIndependent * slower * shared, gap};
}

nsp_core_summary summary_of(std::vector<nsp_core_look> looks, double alone_ratio = 0)
{
    nsp_core_summary summary;
    nsp_core_summarise(looks.data(), uint32_t(looks.size()), alone_ratio, &summary);
    return summary;
}

std::vector<nsp_core_look> hundred(nsp_core_look first, int of_first, nsp_core_look rest)
{
    std::vector<nsp_core_look> looks(100, rest);
    std::fill_n(looks.begin(), of_first, first);
    return looks;
}

// INFO lines -> value of one; "absent".
std::string value_of(const std::string &text, const std::string &key)
{
    const size_t at = text.find(key + "=");
    if (at == std::string::npos)
        return "absent";
    const size_t begin = at + key.size() + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
}
} // namespace

TEST_CASE("a core by itself is not shared at any look", "[libnsprobe][core]")
{
    const nsp_core_summary core = summary_of(hundred(look(), 100, {}));
    CHECK(core.looks == 100);
    CHECK(core.shared == 0);
    CHECK(core.frequency_range == 0);
    CHECK(core.longest_gap_ticks == 20);
}

TEST_CASE("looks at which independent operations take longer are those of a shared core",
          "[libnsprobe][core]")
{
    CHECK(summary_of(hundred(look(1, 1.6), 30, look())).shared == 30);
    CHECK(summary_of(hundred(look(1, 1.05), 30, look())).shared == 0);
}

TEST_CASE("a changed frequency does not make a core a shared one", "[libnsprobe][core]")
{
    const nsp_core_summary core = summary_of(hundred(look(1.3), 30, look()));
    CHECK(core.shared == 0);
    CHECK(core.frequency_range == Approx(0.3));
}

TEST_CASE("few slow looks do not widen the range of the frequency", "[libnsprobe][core]")
{
    CHECK(summary_of(hundred(look(1.3), 9, look())).frequency_range == 0);
}

TEST_CASE("a core that is always shared is known from earlier looks", "[libnsprobe][core]")
{
    const double alone = summary_of(hundred(look(), 100, {})).alone_ratio;
    const nsp_core_summary core = summary_of(hundred(look(1, 1.6), 100, {}), alone);
    CHECK(core.shared == 100);
    CHECK(core.alone_ratio == alone);
#if defined(__x86_64__) // or from how many additions every core makes in a cycle
    CHECK(summary_of(hundred(look(1, 1.6), 100, {})).shared == 100);
#endif
}

TEST_CASE("a real look has operations that wait and others that do not", "[libnsprobe][core]")
{
    nsp_core_look real;
    nsp_core_look_read(&real);
    CHECK(real.dependent_ticks > 0);
    CHECK(real.independent_ticks > 0);
    CHECK(real.dependent_ticks > real.independent_ticks);
    CHECK(real.longest_gap_ticks > 0);
}

TEST_CASE("the surroundings of a calibration are those of all its CPUs", "[libnsprobe][core]")
{
    nsp_surroundings around;
    char text[256];
    nsp_surroundings_begin(&around);
    nsp_surroundings_text(&around, text, sizeof(text));
    CHECK(std::string(text).empty());
    around.cpus = 2;
    for (const auto &one : {look(), look(), look(1, 1.6), look(1, 1.6, 5000)})
        around.cpu[0].look[around.cpu[0].count++] = one;
    for (const auto &one : {look(2), look(2), look(2), look(2.2)}) // a slower core is not a change
        around.cpu[1].look[around.cpu[1].count++] = one;
    around.preempted = 7;
    around.repeated = 2;
    nsp_surroundings_text(&around, text, sizeof(text));
    CHECK(value_of(text, "calibrate.looks") == "8");
    CHECK(value_of(text, "calibrate.sibling") == "0.250");
    CHECK(value_of(text, "calibrate.frequency") == "0.1000");
    CHECK(value_of(text, "calibrate.gap_ticks") == "5000");
    CHECK(value_of(text, "calibrate.preempted") == "7");
    CHECK(value_of(text, "calibrate.repeated") == "2");
    CHECK(value_of(text, "calibrate.steal_ms") != "absent");
}

TEST_CASE("a turn is taken away if the thread did not have the CPU for a tenth of it",
          "[libnsprobe][core]")
{
    nsp_surroundings around;
    nsp_surroundings_begin(&around);
    const nsp_turn asleep = nsp_turn_begin();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(nsp_turn_was_taken_away(&around, &asleep) != 0);
    nsp_turn own = nsp_turn_begin();
    own.begin_ns -= 100000000;
    own.thread_begin_ns -= 100000000;
    CHECK(nsp_turn_was_taken_away(&around, &own) == 0);
    nsp_turn preempted = nsp_turn_begin();
    const uint64_t before = around.preempted;
    preempted.preempted_before -= 3;
    nsp_turn_was_taken_away(&around, &preempted);
    CHECK(around.preempted >= before + 3);
}

TEST_CASE("no more looks are kept than there is room for", "[libnsprobe][core]")
{
    nsp_surroundings around;
    nsp_surroundings_begin(&around);
    for (int i = 0; i < 2 * NSP_MAX_LOOKS; ++i)
        nsp_surroundings_look(&around, 1);
    CHECK(around.cpus == 2);
    CHECK(around.cpu[1].count == NSP_MAX_LOOKS);
    CHECK(around.cpu[0].count == 0);
}
