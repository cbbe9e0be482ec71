// SPDX-License-Identifier: MIT
// What a test needs from the machine; where it is missing the test says so and skips.
#pragma once

#include <filesystem>
#include <string>

namespace test_support
{
// Notes that a case could not run here.  The caller returns right after.
void skip(const std::string &reason);
int skipped_cases();

// ../shared/data beside the checkout, or what NETSLICE_DATA names.  Empty path when absent.
inline std::filesystem::path shared_data()
{
    if (const char *named = std::getenv("NETSLICE_DATA"))
        return named;
    const std::filesystem::path beside{TEST_SHARED_DATA_DIR};
    return std::filesystem::exists(beside) ? beside : std::filesystem::path{};
}
} // namespace test_support
