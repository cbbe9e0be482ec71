// SPDX-License-Identifier: MIT
// analyse: data that does not fit in memory -> a temporary file that has no name.
#pragma once

namespace nsdump
{
// Where temporary files are, for messages.
inline constexpr const char *kTemporaryFolders = "temporary file in TMPDIR or /var/tmp";

// In TMPDIR, or else in /var/tmp; gone once it is closed.  Returns its descriptor, or -1 with
// errno.
int open_unnamed_file();
} // namespace nsdump
