// SPDX-License-Identifier: MIT
// A measured figure -> one JSON line, as README.md says.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bench
{
struct Figure {
    std::string figure;
    double value;
    std::string unit;
    nlohmann::json raw;
    std::string note;
};

inline void print(const Figure &figure)
{
    const nlohmann::json line = {{"figure", figure.figure}, {"value", figure.value}, {"unit", figure.unit},
                                 {"raw", figure.raw},       {"note", figure.note}};
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
}

// `sense` as the runner knows it: at most, at least, below, equal.
inline void print(const Figure &figure, const char *sense, double bar)
{
    const nlohmann::json line = {{"figure", figure.figure}, {"value", figure.value}, {"unit", figure.unit},
                                 {"sense", sense},          {"bar", bar},            {"raw", figure.raw},
                                 {"note", figure.note}};
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
}

inline void print_skipped(const std::string &figure, const std::string &reason)
{
    std::printf("%s\n", nlohmann::json({{"figure", figure}, {"skipped", reason}}).dump().c_str());
    std::fflush(stdout);
}

inline double quantile(std::vector<double> values, double share)
{
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

inline double median(const std::vector<double> &values)
{
    return quantile(values, 0.5);
}
} // namespace bench
