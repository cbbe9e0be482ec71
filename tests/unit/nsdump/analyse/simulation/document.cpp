// SPDX-License-Identifier: MIT
// libnsprobe/CORRECTION.md -> the figures that it states, for tests that recalculate them.
#include "simulation/document.hpp"

#include <fstream>
#include <stdexcept>
#include <vector>

namespace simulation
{
namespace
{
const std::vector<std::string> &lines()
{
    static const std::vector<std::string> all = [] {
        std::vector<std::string> read;
        std::ifstream file(TEST_SOURCE_DIR "/libnsprobe/CORRECTION.md");
        for (std::string line; std::getline(file, line);)
            read.push_back(line);
        return read;
    }();
    return all;
}
} // namespace

Example::Example(int number) : number_(number)
{
    const std::string heading = "### Example " + std::to_string(number) + ":";
    bool is_inside = false;
    for (const std::string &line : lines()) {
        if (line.starts_with('#'))
            is_inside = line.starts_with(heading);
        const size_t equals = line.find(" = ");
        if (is_inside && equals != std::string::npos && line.find('|') == std::string::npos)
            values_[line.substr(0, line.find_last_not_of(' ', equals) + 1)] =
                std::stod(line.substr(equals + 3));
    }
}

double Example::operator[](const std::string &name) const
{
    const auto found = values_.find(name);
    if (found == values_.end())
        throw std::runtime_error("CORRECTION.md, example " + std::to_string(number_) +
                                 ": no line " + name + " =");
    return found->second;
}

double documented_share(const std::string &name)
{
    for (const std::string &line : lines())
        if (line.rfind("| " + name + " |", 0) == 0) {
            const size_t end = line.find_last_of('|'), begin = line.find_last_of('|', end - 1);
            return std::stod(line.substr(begin + 1, end - begin - 1)) / 100;
        }
    throw std::runtime_error("CORRECTION.md: no table row that begins with \"| " + name + " |\"");
}
} // namespace simulation
