// SPDX-License-Identifier: MIT
// analyse: calibrated constants and what precedes the STARTs of a name -> what its pairs cost
// outside of their own slices.
#pragma once

#include <vector>

#include "analyse/correct/correction.hpp"
#include "analyse/pair/pair.hpp"
#include "analyse/thinning/cell.hpp"
#include "analyse/thinning/collector.hpp"

namespace nsdump
{
// Up to this distance, a START may immediately follow the previous record's probe.  `step` of the
// clock.
double close_limit(const Correction &correction, double step);

// `cpus` that the slices ran on; the errors of their constants are taken as one.
GapConstant gap_in_context(const std::vector<CpuSum> &cpus, const Starts &starts,
                           const Correction &correction);

// Of BPF programs: the share of slices whose STOP is right behind their START; those that are so in
// part count in part.
double share_behind(const std::vector<Bucket> &buckets, const BpfCosts &bpf);
} // namespace nsdump
