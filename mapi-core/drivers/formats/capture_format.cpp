// SPDX-License-Identifier: MIT
// Capture format: the first bytes of a file -> the reader for them.
#include "drivers/formats/capture_format.hpp"

#include <cstdio>

#include "drivers/capture_error.hpp"
#include "drivers/formats/dag_legacy.hpp"

namespace mapi::drivers
{
std::unique_ptr<CaptureFormat> open_capture_format(FileBuffer &file)
{
    file.fill(24);
    if (auto format = open_pcap(file))
        return format;
    if (auto format = open_pcapng(file))
        return format;
    if (file.available() == 0)
        throw CaptureError(Damage::kOpen, file.path() + ": is empty");
    if (file.available() < 4)
        throw CaptureError(Damage::kOpen, file.path() +
                                              ": the file ends inside its header, after " +
                                              std::to_string(file.available()) + " bytes");
    refuse_dag_legacy(file, ErfLook::kInPart, "neither pcap nor pcapng");
    char magic[16];
    snprintf(magic, sizeof(magic), "0x%08x", load_u32<false>(file.begin()));
    throw CaptureError(Damage::kOpen, file.path() +
                                          ": is neither pcap nor pcapng; it begins with " + magic +
                                          " (if it is ERF, use " + kErfSettings +
                                          "; `editcap -F pcap` converts most other formats)");
}
} // namespace mapi::drivers
