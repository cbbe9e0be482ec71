// SPDX-License-Identifier: MIT
// Device: the cost of the functions that its driver runs, measured by the driver.
#include "engine/error.hpp"
#include "engine/packet_path/device.hpp"

namespace mapi::engine
{
void Device::measure_cost(mapi_driver_cost &cost)
{
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    if (const int number = driver_.offload->cost(source_, &cost, text, sizeof(text)); number != 0)
        throw Error(number, settings_.name + ": the cost cannot be measured: " + text);
}
} // namespace mapi::engine
