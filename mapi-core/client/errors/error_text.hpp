// SPDX-License-Identifier: MIT
// Error text: a number of errors.h -> what it stands for in all cases, as MAPI 2 published it.
#pragma once

namespace mapi::client
{
// Empty for a number that is none of errors.h.
const char *error_text(int number) noexcept;
} // namespace mapi::client
