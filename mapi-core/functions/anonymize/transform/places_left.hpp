// SPDX-License-Identifier: MIT
// Places left: how many values tables that share a bound may still remember.
#pragma once

#include <cstddef>

namespace mapi::anonymize
{
// Not for two threads at once.
class PlacesLeft
{
public:
    explicit PlacesLeft(size_t places) : left_(places) {}

    // False: there is none.
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
