// SPDX-License-Identifier: MIT
// malformed_at: a call that is expected to find malformed text -> where it did.
#pragma once

#include <cstddef>
#include <string>

#include "snort2sids/source/malformed.hpp"

struct MalformedAt {
    size_t offset = std::string::npos; // npos: nothing was found
    std::string what;
};

template <class Call> MalformedAt malformed_at(const Call &call)
{
    try {
        call();
    } catch (const snort2sids::Malformed &error) {
        return {error.offset, error.what()};
    }
    return {};
}
