// SPDX-License-Identifier: MIT
// DAG legacy: the first bytes of a file -> which of the formats before ERF it is in.
#pragma once

#include "drivers/file_buffer.hpp"

namespace mapi::drivers
{
// How the file's first records look to who takes it for ERF.
enum class ErfLook {
    kNone,    // no record of ERF is like the first ones
    kInPart,  // they are, up to a place that contradicts itself or the end of the file in a record
    kThrough, // all that were looked at are
};

// Throws CaptureError that names the format, if it is one of DAG's of 64 bytes a record.  Never of a file in which ERF's own records are
// the more likely reading.  wanted: what it is not, for the message.
void refuse_dag_legacy(FileBuffer &file, ErfLook erf, const char *wanted);
} // namespace mapi::drivers
