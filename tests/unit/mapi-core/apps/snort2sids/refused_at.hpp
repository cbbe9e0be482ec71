// SPDX-License-Identifier: MIT
// refused_at: a call that is expected to refuse a rule -> where and why.
#pragma once

#include <cstddef>
#include <string>

#include "snort2sids/body/refusal.hpp"

struct RefusedAt {
    size_t offset = std::string::npos; // npos: nothing was refused
    std::string reason, what;
};

template <class Call> RefusedAt refused_at(const Call &call)
{
    try {
        call();
    } catch (const snort2sids::Refusal &refusal) {
        return {refusal.offset, refusal.reason, refusal.what()};
    }
    return {};
}
