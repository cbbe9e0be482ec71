// SPDX-License-Identifier: MIT
// verify: slices around known code, and how many instructions each of them has.
#pragma once

#include <map>
#include <string>

namespace nsdump::verify
{
// By slice name: its own instructions and those of the slices inside it.
using Truth = std::map<std::string, double>;

inline constexpr int kShortest = 10, kLongest = 1000000;

// Of the slices that run_known_slices() runs for the same `longest`.
Truth known_truth(int longest);

// Slices of kShortest, 10 times that, ... up to `longest` instructions, three deep, and one around
// ten empty pairs, once each.
void run_known_slices(int longest);
} // namespace nsdump::verify
