// SPDX-License-Identifier: MIT
// Second of two files with the same inline probes; 14 records.
#include "shared.hpp"

namespace
{
int local(int n) // 2 records
{
    NET_SLICE_SCOPE(local);
    try {
        NET_SLICE_SCOPE(left_by_exception); // 2 records
        throw n;
    } catch (int caught) {
        return caught;
    }
}
} // namespace

int work_two(int n)
{
    Counter counter;
    const auto lambda = [&](int m) { // 1 record
        NET_SLICE_MARK(in_lambda, m);
        return m;
    };
    counter.add();
    NET_SLICE_INIT(two, n, n, n);
    n = local(inline_in_header(lambda(n)));
    n = stepped<int, 1>(n) + int(stepped<double, 2>(n));
    NET_SLICE_EXIT(two); // 1 + 1 + 1 + 4 + 2 + 1 + 2 + 2
    return n;
}
