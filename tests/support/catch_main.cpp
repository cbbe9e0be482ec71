// SPDX-License-Identifier: MIT
// main() of all Catch2 tests. A test that calls skip() ends the program with 77, which ctest treats
// as skipped.
#define CATCH_CONFIG_RUNNER
#include "support/catch.hpp"

#include "support/requires.hpp"

int main(int argc, char **argv)
{
    const int failed = Catch::Session().run(argc, argv);
    if (failed == 0 && test_support::skipped_cases() > 0)
        return 77;
    return failed;
}

namespace test_support
{
static int g_skipped_cases;

void skip(const std::string &reason)
{
    ++g_skipped_cases;
    WARN("skipped: " << reason);
}

int skipped_cases()
{
    return g_skipped_cases;
}
} // namespace test_support
