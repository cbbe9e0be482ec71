// SPDX-License-Identifier: MIT
// What a test requires from the machine; if it is missing, the test says so and skips.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace test_support
{
// Records that a case could not run here. The caller returns right after.
void skip(const std::string &reason);
int skipped_cases();

// ../shared/data next to the checkout, or the folder in NETSLICE_DATA. Empty path if absent.
inline std::filesystem::path shared_data()
{
    if (const char *named = std::getenv("NETSLICE_DATA"))
        return named;
    const std::filesystem::path beside{TEST_SHARED_DATA_DIR};
    return std::filesystem::exists(beside) ? beside : std::filesystem::path{};
}

// Whether ./run test release-long or asan-long runs the test.
inline bool asks_for_all_cases()
{
    const char *all = std::getenv("NETSLICE_ALL_CASES");
    return all && std::string(all) == "yes";
}

// Tests of many similar cases run a part of them with AddressSanitizer, the same ones each time,
// which then takes about as long as all of them without.
inline bool runs_all_cases()
{
#ifdef __SANITIZE_ADDRESS__
    return asks_for_all_cases();
#else
    return true;
#endif
}
} // namespace test_support
