// SPDX-License-Identifier: MIT
// Flow options: numbers of mapi_set_flow_option() -> fields.
#include "engine/flow_options.hpp"

#include <bit>
#include <string>

#include <mapi/mapi.h>

#include "engine/error.hpp"

namespace mapi::engine
{
namespace
{
uint64_t checked(const char *name, uint64_t value, uint64_t least, uint64_t most)
{
    if (value != 0 && (value < least || value > most))
        throw Error(MFUNCT_INVALID_ARGUMENT_3,
                    std::string(name) + ": " + std::to_string(value) + " is out of range (0, or " +
                        std::to_string(least) + " to " + std::to_string(most) + ")");
    return value;
}

[[noreturn]] void refuse_option(int option)
{
    throw Error(MFUNCT_INVALID_ARGUMENT_2, "unknown flow option " + std::to_string(option));
}
} // namespace

void FlowOptions::set(int option, uint64_t value)
{
    switch (option) {
    case MAPI_BUFFER_BYTES:
        value =
            checked("MAPI_BUFFER_BYTES", value, MAPI_BUFFER_BYTES_LEAST, MAPI_BUFFER_BYTES_MOST);
        buffer_bytes = value == 0 ? 0 : std::bit_ceil(value);
        return;
    case MAPI_SNAP_BYTES:
        snap_bytes = uint32_t(checked("MAPI_SNAP_BYTES", value, 1, UINT32_MAX));
        return;
    case MAPI_IN_ENGINE: is_in_engine = checked("MAPI_IN_ENGINE", value, 1, 1) != 0; return;
    default: refuse_option(option);
    }
}

uint64_t FlowOptions::get(int option) const
{
    switch (option) {
    case MAPI_BUFFER_BYTES: return buffer_bytes;
    case MAPI_SNAP_BYTES: return snap_bytes;
    case MAPI_IN_ENGINE: return is_in_engine;
    default: refuse_option(option);
    }
}
} // namespace mapi::engine
