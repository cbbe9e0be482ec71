// SPDX-License-Identifier: MIT
// Fuzz target: any bytes as mapi.conf -> devices and error messages.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "drivers/catalog.hpp"
#include "engine/config/config.hpp"
#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "functions/flow_report/report_settings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const mapi::engine::Registry registry(mapi::functions::catalog(),
                                                 mapi::drivers::catalog());
    const std::string text(reinterpret_cast<const char *>(data), size);
    std::istringstream devices(text), section(text), head(text);
    volatile size_t sink = 0;
    const mapi::engine::Config config = mapi::engine::read_config(devices, "mapi.conf", registry);
    for (const mapi::engine::DeviceSettings &device : config.devices)
        sink = device.name.size() + device.path.size();
    for (const mapi::engine::ConfigNote &note : config.notes)
        sink = note.text.size();
    (void)sink;
    mapi::engine::read_section(head, "");
    try {
        mapi::functions::read_report_settings(mapi::engine::read_section(section, "ipfixflib"));
    } catch (const std::runtime_error &) {
    }
    return 0;
}
