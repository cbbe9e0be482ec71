// SPDX-License-Identifier: MIT
// Capture file: the common part of capture file drivers: repetition, counters, messages and the
// members of their tables.
#pragma once

#include <memory>

#include <mapi/driver.h>

#include "drivers/formats/capture_format.hpp"

namespace mapi::drivers
{
// Throws CaptureError if the driver does not read the file's format.
using OpenFormat = std::unique_ptr<CaptureFormat> (*)(FileBuffer &);

// The members of a driver's table; include/mapi/driver.h describes them.
int open_capture_file(OpenFormat open_format, const mapi_driver_setup *setup, void **instance,
                      mapi_driver_info *info);
int read_capture_file(void *instance, mapi_packet *packets, uint32_t limit, mapi_batch *batch);
int read_more_of_capture_file(void *instance, mapi_packet *packets, uint32_t limit,
                              mapi_batch *batch);
void copy_capture_file_stats(void *instance, mapi_driver_stats *stats);
void interrupt_capture_file(void *instance);
void set_prefilter_of_capture_file(void *instance, const mapi_prefilter *prefilter);
int append_capture_file(void *instance, const mapi_driver_setup *setup);
void close_capture_file(void *instance);
} // namespace mapi::drivers
