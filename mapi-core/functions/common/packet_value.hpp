// SPDX-License-Identifier: MIT
// Packet value: the members process() and values() for a function whose result is a value of the
// last packet.
#pragma once

#include <bit>
#include <cstdint>

#include <mapi/function.h>

namespace mapi::functions
{
// Object has uint64_t *result and uint64_t of(const mapi_packet &) const.
template <class Object>
uint64_t process_packet_value(void *instance, const mapi_batch *batch, uint64_t mask)
{
    const auto *object = static_cast<const Object *>(instance);
    *object->result = object->of(batch->packets[63 - std::countl_zero(mask)]);
    return mask;
}

template <class Object>
uint64_t packet_values(const void *instance, const mapi_batch *batch, uint64_t mask,
                       uint64_t *values)
{
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        values[i] = static_cast<const Object *>(instance)->of(batch->packets[i]);
    }
    return mask;
}
} // namespace mapi::functions
