// SPDX-License-Identifier: MIT
// Fake device: a device of the fake driver, and a flow's result.
#pragma once

#include <memory>

#include "engine/flow.hpp"
#include "engine/packet_path/device.hpp"
#include "mapi-core/engine/fake_driver.hpp"

namespace test_support
{
inline std::shared_ptr<mapi::engine::Device> make_device(uint32_t flags = MAPI_DEVICE_OFFLINE)
{
    mapi::engine::DeviceSettings settings;
    settings.name = "fake";
    return std::make_shared<mapi::engine::Device>(1, settings, FakeSource::table(flags), true);
}

inline uint64_t value(mapi::engine::Flow &flow, int fid)
{
    return *static_cast<uint64_t *>(flow.read_results(fid)->res);
}
} // namespace test_support
