// SPDX-License-Identifier: MIT
// malformed: a text that does not follow Snort's grammar, and where.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace snort2sids
{
class Malformed : public std::runtime_error
{
public:
    Malformed(size_t offset, const std::string &what) : std::runtime_error(what), offset(offset) {}

    size_t offset; // in the text that was read
};
} // namespace snort2sids
