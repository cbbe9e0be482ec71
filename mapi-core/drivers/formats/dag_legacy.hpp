// SPDX-License-Identifier: MIT
// DAG legacy: the first bytes of a file -> which of the formats before ERF it is in.
#pragma once

#include "drivers/bytes/file_buffer.hpp"

namespace mapi::drivers
{
// What the first records look like when they are read as ERF.
enum class ErfLook {
    kNone,    // no record of ERF is like the first ones
    kInPart,  // they are, up to a place that contradicts itself or the end of the file in a record
    kThrough, // all that were looked at are
};

// Throws a CaptureError that names the format if it is one of DAG's formats with records of 64 bytes, but never for a file that is more likely
// ERF.  wanted: the format that was expected, for the message.
void refuse_dag_legacy(FileBuffer &file, ErfLook erf, const char *wanted);
} // namespace mapi::drivers
