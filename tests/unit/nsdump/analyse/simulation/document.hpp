// SPDX-License-Identifier: MIT
// libnsprobe/CORRECTION.md -> the figures that it states, for tests that work them out again.
#pragma once

#include <map>
#include <string>

namespace simulation
{
// The lines "name = number" of the block that follows the heading "### Example N".
class Example
{
public:
    explicit Example(int number);
    // Fails when the document has no such line, so a name cannot be lost from it unseen.
    double operator[](const std::string &name) const;

private:
    int number_;
    std::map<std::string, double> values_;
};

// The per cent in the last column of the table row that begins with "| name |", as a share.
double documented_share(const std::string &name);
} // namespace simulation
