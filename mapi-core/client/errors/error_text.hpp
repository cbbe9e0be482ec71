// SPDX-License-Identifier: MIT
// Error text: a number of errors.h -> its general text, as MAPI 2 published it.  Used for an error
// without details.
#pragma once

namespace mapi::client
{
// Empty for a number that is not in errors.h.
const char *error_text(int number) noexcept;
} // namespace mapi::client
