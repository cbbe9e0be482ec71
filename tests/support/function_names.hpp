// SPDX-License-Identifier: MIT
// Expressions and functions that they mean or not: nsdump and libnsprobe-functions.so must agree.
#pragma once

#include <cstddef>
#include <string>

struct FunctionName {
    const char *expression, *name, *symbol;
    bool is_match;
};

constexpr FunctionName kFunctionNames[] = {
    {"parse", "parse_all()", "parse_all", true},
    {"^parse$", "parse()", "parse", true},
    {"^parse\\(\\)$", "parse()", "parse", true},
    {"^parse$", "parse_all()", "parse_all", false},
    {"^net::Table<long>::find$", "net::Table<long>::find(long)", "_ZN3net5TableIlE4findEl", true},
    {"find\\(long\\)", "net::Table<long>::find(long)", "_ZN3net5TableIlE4findEl", true},
    {"find\\(int\\)", "net::Table<long>::find(long)", "_ZN3net5TableIlE4findEl", false},
    {"^_ZN3net5TableIlE4findEl$", "net::Table<long>::find(long)", "_ZN3net5TableIlE4findEl", true},
    {"^\\(anonymous namespace\\)::run$", "(anonymous namespace)::run(int, void (*)(int)) const",
     "_ZNK12_GLOBAL__N_13runEiPFviE", true},
    {"^$", "(anonymous namespace)::run(int)", "_ZN12_GLOBAL__N_13runEi", false},
    {"^Less::operator\\(\\)$", "Less::operator()(int, int) const", "_ZNK4LessclEii", true},
    {"^Less::operator$", "Less::operator()(int, int) const", "_ZNK4LessclEii", false},
    {"^main::\\{lambda\\(int\\)#1\\}::operator\\(\\)$",
     "main::{lambda(int)#1}::operator()(int) const", "_ZZ4mainENKUliE_clEi", true},
};

// A function with an argument for each step, each of which has the one before it twice: its name
// would have 2^34 bytes.
inline std::string exploding_symbol()
{
    std::string symbol = "_Z1fPFviiE";
    for (size_t i = 0; i < 34; ++i) {
        const std::string last = (i < 18 ? "" : "1") + std::string(1, "02468ACEGIKMOQSUWY"[i % 18]);
        symbol += "PFvS" + last + "_S" + last + "_E";
    }
    return symbol;
}
