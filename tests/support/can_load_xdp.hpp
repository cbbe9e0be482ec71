// SPDX-License-Identifier: MIT
// Whether this process may load XDP programs; if not, the test is skipped with the kernel's reason.
#pragma once

#include <cerrno>

#include "support/requires.hpp"
#include "support/xdp_programs.hpp"

namespace test_support
{
inline bool can_load()
{
    try {
        Nodes none;
        Machine().make(none);
        return true;
    } catch (const KernelRefusal &refusal) {
        if (refusal.number() != EPERM)
            throw;
        skip(refusal.what());
        return false;
    }
}
} // namespace test_support
