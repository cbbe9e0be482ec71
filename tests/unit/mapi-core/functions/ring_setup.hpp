// SPDX-License-Identifier: MIT
// Ring setup: the setup for a function with a ring, and the ring's reader.
#pragma once

#include <cstring>
#include <memory>

#include <mapi/function.h>

#include "engine/memory/ring_memory.hpp"
#include "ring/ring_reader.hpp"
#include "support/function_memory.hpp"

struct RingSetup {
    RingSetup()
    {
        setup.struct_size = sizeof(setup);
        setup.ring = &calls;
        setup.engine = this;
        give_memory(setup);
    }
    RingSetup(const RingSetup &) = delete;

    static mapi_ring *make(const mapi_function_setup *setup, const mapi_ring_options *options)
    {
        auto &self = *static_cast<RingSetup *>(setup->engine);
        self.memory = std::make_unique<mapi::engine::RingMemory>(
            std::make_shared<mapi::engine::HeapArena>(), *options);
        self.reader = std::make_unique<mapi::ring::RingReader>(self.memory->writer().pages());
        return mapi::engine::as_handle(self.memory.get());
    }

    // Waits for the next record until the ring has ended; false: there is none.
    template <class Entry> bool next(Entry &entry)
    {
        if (!reader->wait(-1, [] { return true; }))
            return false;
        memcpy(&entry, reader->next().data, sizeof(entry));
        reader->release();
        return true;
    }

    const mapi_ring_calls calls = mapi::engine::ring_calls(make);
    mapi_function_setup setup = {};
    std::unique_ptr<mapi::engine::RingMemory> memory;
    std::unique_ptr<mapi::ring::RingReader> reader;
};
