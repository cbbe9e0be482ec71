// SPDX-License-Identifier: MIT
// First match: what Vectorscan calls when it finds something in a padded text -> whether it lies in the text itself.
#pragma once

#include <cstddef>

namespace mapi::match
{
struct FirstMatch {
    size_t bytes; // of the text, without what was put behind it
    bool found = false;

    // A match_event_handler; the first match in the text ends the scan.
    static int on_match(unsigned, unsigned long long, unsigned long long end, unsigned, void *context)
    {
        auto &self = *static_cast<FirstMatch *>(context);
        self.found = end <= self.bytes;
        return self.found;
    }
};
} // namespace mapi::match
