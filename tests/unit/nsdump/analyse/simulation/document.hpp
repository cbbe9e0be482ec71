// SPDX-License-Identifier: MIT
// libnsprobe/CORRECTION.md -> the figures that it states, for tests that recalculate them.
#pragma once

#include <map>
#include <string>

namespace simulation
{
// The lines "name = number" of the block after the heading "### Example N".
class Example
{
public:
    explicit Example(int number);
    // Fails if the document has no such line, so that the loss of a name is noticed.
    double operator[](const std::string &name) const;

private:
    int number_;
    std::map<std::string, double> values_;
};

// The percentage in the last column of the table row that begins with "| name |", as a share.
double documented_share(const std::string &name);
} // namespace simulation
