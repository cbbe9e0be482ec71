// SPDX-License-Identifier: MIT
// Probes in code that several files compile: an inline function, a template, a class, a lambda.
#pragma once

#include <nsprobe/probe.h>

inline int inline_in_header(int n) // 2 records
{
    NET_SLICE_START(inline_in_header);
    n += 1;
    NET_SLICE_STOP(inline_in_header);
    return n;
}

template <class Number, int Step> Number stepped(Number n) // 2 records
{
    NET_SLICE_SCOPE(stepped);
    if (n > 5)
        return n - Step;
    return n + Step;
}

struct Counter {
    int value = 0;
    void add() // 1 record
    {
        NET_SLICE_MARK(counter, ++value);
    }
};

constexpr int kWorkRecords = 14;
int work_one(int n);
int work_two(int n);
