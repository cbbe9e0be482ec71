// SPDX-License-Identifier: MIT
// Places left: how many more values the tables that share a limit may remember.
#pragma once

#include <cstddef>

namespace mapi::anonymize
{
// Not thread-safe.
class PlacesLeft
{
public:
    explicit PlacesLeft(size_t places) : left_(places) {}

    // Returns false if none is left.
    bool take()
    {
        if (left_ == 0)
            return false;
        --left_;
        return true;
    }

private:
    size_t left_;
};
} // namespace mapi::anonymize
