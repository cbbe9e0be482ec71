// SPDX-License-Identifier: MIT
// A loop of dependent multiplications, as long as asked -> its CPU time in seconds.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace
{
double cpu_s()
{
    timespec now = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

uint64_t multiplied(uint64_t steps)
{
    uint64_t value = 1;
    for (uint64_t i = 0; i < steps; ++i) {
        value = value * 6364136223846793005U + 1;
        asm volatile("" : "+r"(value)); // each step stays
    }
    return value;
}
} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: busy_loop STEPS\n");
        return 2;
    }
    const double begin_s = cpu_s();
    const uint64_t value = multiplied(std::strtoull(argv[1], nullptr, 10));
    std::printf("%.9f s, ended with %llu\n", cpu_s() - begin_s,
                static_cast<unsigned long long>(value));
    return 0;
}
