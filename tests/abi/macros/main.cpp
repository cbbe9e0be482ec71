// SPDX-License-Identifier: MIT
// Runs the probes of the other files in a session and checks the library's count; $1 is the output
// file.
#include "shared.hpp"

#include <cstdio>
#include <string>

extern "C" int work_in_c(int n); // 9 records

int main(int argc, char **argv)
{
    nsp_session_counts counts{};
    int sum = 0;
    if (argc != 2 || NET_SLICE_CONF(("calibration=no output=" + std::string(argv[1])).c_str()))
        return 2;
    for (int n = 0; n < 100; ++n)
        sum += work_one(n) + work_two(n) + work_in_c(n);
    if (nsp_session_close(&counts))
        return 3;
    const unsigned long long expected = 100 * (2 * kWorkRecords + 9);
    std::printf("issued %llu of %llu (%d)\n", static_cast<unsigned long long>(counts.issued),
                expected, sum);
    return counts.issued == expected && counts.drained == expected ? 0 : 1;
}
