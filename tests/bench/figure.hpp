// SPDX-License-Identifier: MIT
// A measured figure -> one JSON line, as described in README.md.
#pragma once

#include <algorithm>
#include <cstdio>
#include <ctime>
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
    std::vector<std::string> lines = {}; // a table to show instead of `raw`
};

inline nlohmann::json to_json(const Figure &figure)
{
    nlohmann::json out = {{"figure", figure.figure},
                          {"value", figure.value},
                          {"unit", figure.unit},
                          {"raw", figure.raw},
                          {"note", figure.note}};
    if (!figure.lines.empty())
        out["lines"] = figure.lines;
    return out;
}

inline void print_line(const nlohmann::json &line)
{
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
}

inline void print(const Figure &figure)
{
    print_line(to_json(figure));
}

// `sense` as known to the runner: at most, at least, below, equal.
inline void print(const Figure &figure, const char *sense, double bar)
{
    nlohmann::json line = to_json(figure);
    line["sense"] = sense;
    line["bar"] = bar;
    print_line(line);
}

inline void print_skipped(const std::string &figure, const std::string &reason)
{
    print_line({{"figure", figure}, {"skipped", reason}});
}

// Of all threads; least affected by other load on the machine.
inline double cpu_s()
{
    timespec now = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

inline double quantile(std::vector<double> values, double share)
{
    std::sort(values.begin(), values.end());
    return values[size_t(share * double(values.size() - 1))];
}

inline double median(const std::vector<double> &values)
{
    return quantile(values, 0.5);
}
} // namespace bench
