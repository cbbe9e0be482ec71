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
// Of a function whose state is an object: what create() returns.
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

// Of one that goes by time.
template <class Object> void tick(void *instance, uint64_t now_ns)
{
    static_cast<Object *>(instance)->tick(now_ns);
}

// Of one that can begin anew.
template <class Object> void reset(void *instance)
{
    static_cast<Object *>(instance)->reset();
}

// Before create_object(): 0, or the number with which create() refuses.
inline int charge_memory(const mapi_function_setup *setup, uint64_t bytes)
{
    return setup->charge_memory(setup, bytes);
}

// What all instances of the client's functions that ask for this kind have in common.  Null: create() is to fail.
template <class Object> Object *common_object(const mapi_function_setup *setup, const mapi_common_object &kind)
{
    return static_cast<Object *>(setup->common_object(setup, &kind));
}

// Whether the device waits for its readers.
inline bool is_offline(const mapi_function_setup *setup)
{
    return (setup->device_flags & MAPI_DEVICE_OFFLINE) != 0;
}

// Of a packet that is copied for the client.
inline uint32_t snap_bytes(const mapi_function_setup *setup)
{
    return setup->snap_bytes ? setup->snap_bytes : UINT32_MAX;
}

// A result in place of so many bytes.  Throws std::bad_alloc.
template <class Result> Result *allocate_result(const mapi_function_setup *setup, uint64_t bytes)
{
    uint64_t *memory = bytes <= MAPI_RESULT_BYTES_MAX ? setup->allocate_result(setup, uint32_t(bytes)) : nullptr;
    if (!memory)
        throw std::bad_alloc();
    return reinterpret_cast<Result *>(memory);
}

// The function's ring and what can be done with it.
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

// Of a counter: the result is all the state there is.
inline int create_in_result(const mapi_function_setup *setup, void **instance)
{
    *instance = setup->result;
    return 0;
}

inline void destroy_nothing(void *)
{
}
} // namespace mapi::functions
