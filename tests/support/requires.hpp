// SPDX-License-Identifier: MIT
// What a test requires from the machine; if it is missing, the test says so and skips.
#pragma once

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
} // namespace test_support
