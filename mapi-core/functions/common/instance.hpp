// SPDX-License-Identifier: MIT
// Instance: the members create() and destroy() that function tables have in common.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include <mapi/function.h>

#include "functions/common/refuse.hpp"

namespace mapi::functions
{
// The return value of create() for a function whose state is an object.
template <class Object, class... Arguments>
int create_object(const mapi_function_setup *setup, void **instance, Arguments &&...arguments)
{
    try {
        *instance = new Object{std::forward<Arguments>(arguments)...};
        return 0;
    } catch (const std::bad_alloc &) {
        return refuse(setup, MFUNCT_COULD_NOT_APPLY_FUNCT, "out of memory");
    } catch (const std::exception &error) {
        return refuse(setup, MFUNCT_COULD_NOT_APPLY_FUNCT, error.what());
    }
}

template <class Object> void destroy(void *instance)
{
    delete static_cast<Object *>(instance);
}

// For a function driven by time.
template <class Object> void tick(void *instance, uint64_t now_ns)
{
    static_cast<Object *>(instance)->tick(now_ns);
}

// For a function that can be reset.
template <class Object> void reset(void *instance)
{
    static_cast<Object *>(instance)->reset();
}

// Call before create_object().  Returns 0, or the number with which create() must fail.
inline int reserve_memory(const mapi_function_setup *setup, uint64_t bytes)
{
    return setup->reserve_memory(setup, bytes);
}

// The object that all instances of the client's functions share if they ask for this kind.  Null:
// create() must fail.
template <class Object>
Object *common_object(const mapi_function_setup *setup, const mapi_common_object &kind)
{
    return static_cast<Object *>(setup->common_object(setup, &kind));
}

// Whether the device waits for its readers.
inline bool is_offline(const mapi_function_setup *setup)
{
    return (setup->device_flags & MAPI_DEVICE_OFFLINE) != 0;
}

// The limit for a packet copied for the client.
inline uint32_t snap_bytes(const mapi_function_setup *setup)
{
    return setup->snap_bytes ? setup->snap_bytes : UINT32_MAX;
}

// A result in place with that many bytes.  Throws std::bad_alloc.
template <class Result> Result *allocate_result(const mapi_function_setup *setup, uint64_t bytes)
{
    uint64_t *memory =
        bytes <= MAPI_RESULT_BYTES_MAX ? setup->allocate_result(setup, uint32_t(bytes)) : nullptr;
    if (!memory)
        throw std::bad_alloc();
    return reinterpret_cast<Result *>(memory);
}

// The function's ring and the calls for it.
struct Ring {
    const mapi_ring_calls *calls;
    mapi_ring *ring;
};

// Throws std::bad_alloc.
inline Ring make_ring(const mapi_function_setup *setup, const mapi_ring_options &options)
{
    mapi_ring *ring = setup->ring->make(setup, &options);
    if (!ring)
        throw std::bad_alloc();
    return {setup->ring, ring};
}
} // namespace mapi::functions
