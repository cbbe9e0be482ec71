// SPDX-License-Identifier: MIT
// options: command line -> struct.
#include "support/catch.hpp"

#include <vector>

#include "options.hpp"

using namespace impair;

namespace
{
Options parsed(std::vector<const char *> words)
{
    words.insert(words.begin(), "mapi-impair");
    Options options;
    CHECK_FALSE(parse_options(int(words.size()), words.data(), options));
    return options;
}
} // namespace

TEST_CASE("a time has a unit", "[impair][options]")
{
    CHECK(read_time("0.05ms") == 50'000);
    CHECK(read_time("50us") == 50'000);
    CHECK(read_time("17ns") == 17);
    CHECK(read_time("1.5s") == 1'500'000'000);
    CHECK(read_time("0") == 0);
    for (const char *wrong : {"", "5", "ms", "-1ms", "1e3ms", "0x1ms", "1 ms", "1m", "nan", "1..2s",
                              "3601s", "99999999999999999999s"})
        CHECK_FALSE(read_time(wrong));
}

TEST_CASE("percentages become probabilities", "[impair][options]")
{
    const Options options =
        parsed({"--loss", "25", "--duplicate", "0.5", "--reorder", "100", "in", "out"});
    CHECK(options.impairment.loss == 0.25);
    CHECK(options.impairment.duplicate == 0.005);
    CHECK(options.impairment.reorder == 1);
    CHECK(options.interfaces[kForward] == "in");
    CHECK(options.interfaces[kBackward] == "out");
}

TEST_CASE("both directions are impaired unless one is chosen", "[impair][options]")
{
    CHECK(parsed({"in", "out"}).is_impaired[kBackward]);
    const Options forward = parsed({"--direction", "forward", "in", "out"});
    CHECK(forward.is_impaired[kForward]);
    CHECK_FALSE(forward.is_impaired[kBackward]);
    CHECK_FALSE(parsed({"--direction", "backward", "in", "out"}).is_impaired[kForward]);
}
