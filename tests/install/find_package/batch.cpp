// SPDX-License-Identifier: MIT
// install test: like batch.c, with the slice as a scope that is left by return.
#include <nsprobe/probe.h>

#include <cstdio>
#include <iterator>
#include <numeric>
#include <vector>

namespace
{
constexpr unsigned kUnits = 1000;
constexpr unsigned kRecordsPerUnit = 4;

unsigned work(const std::vector<unsigned> &numbers)
{
    NET_SLICE_SCOPE(work);
    return std::accumulate(numbers.begin(), numbers.end(), 0u);
}

bool closes_complete()
{
#ifdef NETSLICE_DISABLE
    return true;
#else
    nsp_session_counts counts{};
    if (nsp_session_close(&counts) != 0) {
        std::fprintf(stderr, "close: %s\n", nsp_last_error());
        return false;
    }
    const auto lost = std::accumulate(std::begin(counts.lost), std::end(counts.lost), uint64_t{0});
    return counts.issued == kUnits * kRecordsPerUnit && counts.drained + lost == counts.issued;
#endif
}
} // namespace

int main(int argc, [[maybe_unused]] char **argv)
{
    if (argc != 2)
        return 2;
    NET_SLICE_CONF(argv[1]);
    const std::vector<unsigned> numbers(100, 7);
    unsigned sum = 0;
    for (unsigned number = 0; number < kUnits; ++number) {
        NET_SLICE_INIT(batch, number, 1, 64);
        sum += work(numbers);
        NET_SLICE_EXIT(batch);
    }
    std::printf("%u\n", sum);
    return closes_complete() ? 0 : 1;
}
