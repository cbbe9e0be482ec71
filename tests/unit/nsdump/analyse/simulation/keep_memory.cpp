// SPDX-License-Identifier: MIT
// Thousands of small traces: memory that a trial frees is kept for the next one, otherwise the
// kernel clears it each time.
#include <malloc.h>

namespace
{
[[maybe_unused]] const int kIsKept =
    mallopt(M_MMAP_THRESHOLD, 1 << 26) & mallopt(M_TRIM_THRESHOLD, 1 << 28);
} // namespace
