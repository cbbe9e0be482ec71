// SPDX-License-Identifier: MIT
// DAG legacy: the first bytes of a file -> which of the formats older than ERF it has.
#pragma once

#include "drivers/bytes/file_buffer.hpp"

namespace mapi::drivers
{
// How the first records look when read as ERF.
enum class ErfLook {
    kNone,    // no valid ERF record
    kInPart,  // valid up to a malformed record or the end of the file inside a record
    kThrough, // all examined records are valid
};

// How a user has a file read as ERF, for messages: in programs, in C, in mapi.conf.
inline constexpr char kErfSettings[] = "--erf, format MFF_DAG_ERF or driver=erf_file";

// Throws a CaptureError that names the format if it is one of DAG's formats with records of 64
// bytes, but never for a file that is more likely ERF.  wanted: the expected format, for the
// message.
void refuse_dag_legacy(FileBuffer &file, ErfLook erf, const char *wanted);
} // namespace mapi::drivers
