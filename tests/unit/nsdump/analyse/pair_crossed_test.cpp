// SPDX-License-Identifier: MIT
// STARTs and STOPs without a partner, and slices that cross.
#include <algorithm>
#include <random>

#include "pair_fixture.hpp"
#include "support/catch.hpp"

using namespace pair_fixture;

namespace
{
// Letters: a and b are names, upper case starts and lower case stops a slice, "|" begins a unit and
// "." ends it, "!" a loss.
Paired pair_letters(const std::string &letters)
{
    auto trace = new_trace();
    uint64_t ticks = 100, number = 0;
    for (const char letter : letters) {
        ticks += 10;
        if (letter == '|')
            trace.init(0, 1, 4, ticks, ++number, 2, 64);
        else if (letter == '.')
            trace.exit(0, 1, 4, ticks);
        else if (letter == '!')
            trace.lose(0, NSLICE_LOST_FULL, 1);
        else if (letter >= 'A' && letter <= 'Z')
            trace.start(0, 1,
                        letter == 'A'   ? 1
                        : letter == 'B' ? 2
                                        : uint16_t(100 + letter),
                        ticks);
        else
            trace.stop(0, 1,
                       letter == 'a'   ? 1
                       : letter == 'b' ? 2
                                       : uint16_t(100 + letter - 32),
                       ticks);
    }
    return pair(trace);
}

// In the order of their STOPs: name, "x" if crossed, probes inside.
std::vector<std::string> reported(Paired paired)
{
    std::stable_sort(paired.slices.begin(), paired.slices.end(),
                     [](const Got &a, const Got &b) { return a.stop_ticks < b.stop_ticks; });
    std::vector<std::string> out;
    for (const Got &got : paired.slices) {
        const std::string name = got.name.size() > 1
                                     ? std::string(1, char(std::stoi(got.name.substr(1)) - 68))
                                     : got.name;
        out.push_back(name + (got.is_crossed ? " x" : " " + std::to_string(got.inside.ends)));
    }
    return out;
}

using Reported = std::vector<std::string>;
} // namespace

TEST_CASE("a START or STOP without a partner counts in every enclosing slice", "[nsdump][pair]")
{
    CHECK(reported(pair_letters("ABa")) == Reported{"a 1"});
    CHECK(reported(pair_letters("AbAa")) == Reported{"a 0"});
    CHECK(reported(pair_letters("Aba")) == Reported{"a 1"});
    CHECK(reported(pair_letters("ABBBBa")) == Reported{"a 4"});
    CHECK(reported(pair_letters("Abbbba")) == Reported{"a 4"});
    CHECK(reported(pair_letters("CABaDdc")) == Reported{"a 1", "d 0", "c 5"});
    CHECK(reported(pair_letters("CAbaBbc")) == Reported{"a 1", "b 0", "c 5"});
    CHECK(reported(pair_letters("CABDda")) ==
          Reported{"d 0", "a 3"}); // the contents go to the enclosing slice
    CHECK(reported(pair_letters("ABaABa")) == Reported{"a 1", "a 1"});
}

TEST_CASE("a unit's end closes what it left open, and the enclosing slice has the STARTs",
          "[nsdump][pair]")
{
    CHECK(reported(pair_letters("A|BC.a")) == Reported{"a 2"});
    const Paired out = pair_letters("|ABa.|Aa.");
    CHECK(reported(out) == Reported{"a 1", "a 0"});
    CHECK(out.slices[0].unit == 1); // returned before its unit ended
}

TEST_CASE("slices that cross are a separate class", "[nsdump][pair]")
{
    CHECK(reported(pair_letters("ABab")) == Reported{"a x", "b x"});
    CHECK(pair_letters("ABab").a.unmatched_start == 0);
    CHECK(pair_letters("BAba").a.unmatched_start == 0);
    CHECK(reported(pair_letters("CABabc")) == Reported{"a x", "b x", "c 4"});
    CHECK(reported(pair_letters("CADdBabc")) == Reported{"d 0", "a x", "b x", "c 6"});
    // three coroutines, each crossing the other two
    CHECK(reported(pair_letters("ABCabc")) == Reported{"a x", "b x", "c x"});
    CHECK(reported(pair_letters("ABCacb")) == Reported{"a x", "c x", "b x"});
    // partial overlaps: b crosses both the a before it and the a after it
    CHECK(reported(pair_letters("ABaAba")) == Reported{"a x", "b x", "a x"});
    CHECK(reported(pair_letters("ABaAbBab")) == Reported{"a x", "b x", "a x", "b x"});
    // slices entirely inside or outside the overlap are whole
    CHECK(reported(pair_letters("ABDdaEebFf")) == Reported{"d 0", "a x", "e 0", "b x", "f 0"});
    // b also continues beyond the slice around a
    CHECK(reported(pair_letters("CABacb")) == Reported{"a x", "c x", "b x"});
}

TEST_CASE("a slice around slices that cross counts them as its own time, not as nested slices",
          "[nsdump][pair]")
{
    const Paired out = pair_letters("CABabDdc");
    const Got &around = out.slices.back();
    CHECK(around.depth == 0);
    CHECK(around.child_ticks == 10); // only d
    CHECK(around.inside.ends == 6);
    CHECK(pair_letters("CAABbaDdc").slices.back().child_ticks == 30 + 10); // the inner a
}

TEST_CASE("a name that starts again has lost its STOP and crosses nothing", "[nsdump][pair]")
{
    CHECK(reported(pair_letters("ABaABba")) == Reported{"a 1", "b 0", "a 2"});
    CHECK(reported(pair_letters("ABaBb")) == Reported{"a 1", "b 0"});
    // nor does a STOP cross what ended before a loss, or before the end of the unit
    CHECK(reported(pair_letters("ABa!b")) == Reported{"a 1"});
    CHECK(reported(pair_letters("|ABa.b")) == Reported{"a 1"});
}

TEST_CASE("a slice that was too deep ends with its own STOP", "[nsdump][pair]")
{
    const uint32_t limit = nsdump::PairState::kMaxDepth;
    auto trace = new_trace();
    uint64_t ticks = 0;
    trace.start(0, 1, 1, ++ticks);
    for (uint32_t i = 1; i < limit; ++i)
        trace.start(0, 1, uint16_t(100 + i), ++ticks);
    trace.start(0, 1, 2, ++ticks); // too deep, no STOP
    trace.start(0, 1, 5, ++ticks);
    trace.stop(0, 1, 5, ++ticks);  // too deep, whole
    trace.start(0, 1, 5, ++ticks); // too deep, no STOP
    for (uint32_t i = limit - 1; i > 0; --i)
        trace.stop(0, 1, uint16_t(100 + i), ++ticks);
    trace.stop(0, 1, 1, ++ticks);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == limit);
    CHECK(out.slices.front().inside.ends == 4);
    CHECK(out.slices.back().inside.ends == 4 + 2 * (limit - 1));
    CHECK(out.slices.back().raw_ticks == int64_t(ticks - 1));
}

// Every START and STOP of a slice entirely inside another counts in that one, whatever else is
// wrong.
TEST_CASE("for any order of STARTs and STOPs, probes inside are counted once", "[nsdump][pair]")
{
    std::mt19937 random(7);
    for (int round = 0; round < 3000; ++round) {
        std::string letters;
        for (int i = 0; i < 24; ++i)
            letters += "ABCDabcd"[random() % 8];
        const Paired out = pair_letters("Z" + letters + "z");
        uint64_t pairs = 0;
        for (const Got &got : out.slices) {
            ++pairs;
            if (!got.is_crossed) // a record every 10 ticks
                CHECK(int64_t{10} * (got.inside.ends + 1) == got.raw_ticks);
        }
        INFO(letters);
        const auto around = std::find_if(out.slices.begin(), out.slices.end(),
                                         [](const Got &got) { return got.name == "#190"; });
        REQUIRE(around != out.slices.end());
        CHECK((around->is_crossed || around->inside.ends == letters.size()));
    }
}
