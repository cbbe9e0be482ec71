// SPDX-License-Identifier: MIT
// First match: Vectorscan's callback for a match in a padded text -> whether the match lies in the
// text itself.
#pragma once

#include <cstddef>

namespace mapi::match
{
struct FirstMatch {
    size_t bytes; // of the text, without the padding
    bool found = false;

    // A match_event_handler; the first match within the text ends the scan.
    static int on_match(unsigned, unsigned long long, unsigned long long end, unsigned,
                        void *context)
    {
        auto &self = *static_cast<FirstMatch *>(context);
        self.found = end <= self.bytes;
        return self.found;
    }
};
} // namespace mapi::match
