// SPDX-License-Identifier: MIT
// pcap_file: a pcap or pcapng file -> packet batches.
#include "drivers/capture_file.hpp"
#include "drivers/catalog.hpp"

namespace mapi::drivers
{
namespace
{
int open_pcap_file(const mapi_driver_setup *setup, void **instance, mapi_driver_info *info)
{
    return open_capture_file(open_capture_format, setup, instance, info);
}

constexpr mapi_driver_file kFile = {
    .struct_size = sizeof(mapi_driver_file),
    .append = append_capture_file,
};

constexpr mapi_driver_filter kFilter = {
    .struct_size = sizeof(mapi_driver_filter),
    .set_filter = nullptr,
    .set_prefilter = set_prefilter_of_capture_file,
};
} // namespace
} // namespace mapi::drivers

extern "C" const mapi_driver mapi_driver_pcap_file = {
    .abi = MAPI_DRIVER_ABI,
    .struct_size = sizeof(mapi_driver),
    .name = "pcap_file",
    .description = "reads a pcap or pcapng file",
    .open = mapi::drivers::open_pcap_file,
    .read = mapi::drivers::read_capture_file,
    .close = mapi::drivers::close_capture_file,
    .stats = mapi::drivers::copy_capture_file_stats,
    .interrupt = mapi::drivers::interrupt_capture_file,
    .read_more = mapi::drivers::read_more_of_capture_file,
    .file = &mapi::drivers::kFile,
    .filter = &mapi::drivers::kFilter,
};
