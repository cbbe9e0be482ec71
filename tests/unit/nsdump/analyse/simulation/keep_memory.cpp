// SPDX-License-Identifier: MIT
// Thousands of small traces: memory that a trial frees stays for the next one, else the kernel clears it every time.
#include <malloc.h>

namespace
{
[[maybe_unused]] const int kIsKept = mallopt(M_MMAP_THRESHOLD, 1 << 26) & mallopt(M_TRIM_THRESHOLD, 1 << 28);
} // namespace
