// SPDX-License-Identifier: MIT
// Composed result: words in place and the records of a ring -> a result, by the function's own
// code, in the reader.
#pragma once

#include <cstdint>
#include <vector>

#include <mapi/function.h>

#include "ring/record_source.hpp"

namespace mapi::engine
{
// Used under the source's lock.
class ComposedResult
{
public:
    explicit ComposedResult(const mapi_function &function)
        : function_(function), kept_(function.result ? function.result->kept_words : 0)
    {
    }

    // `result` is zeroed, with room for the bytes rounded up to whole words.
    void read(const uint64_t *in_place, size_t result_bytes, ring::RecordSource &source,
              uint64_t *result)
    {
        mapi_reading reading = {in_place, kept_.data(), result_bytes, next_record, &source};
        function_.result->compose(&reading, result);
        source.give_back();
    }

private:
    static const void *next_record(mapi_reading *reading, uint32_t *bytes)
    {
        const ring::Record record = static_cast<ring::RecordSource *>(reading->engine)->take();
        *bytes = record.bytes;
        return record.data;
    }

    const mapi_function &function_;
    std::vector<uint64_t> kept_;
};
} // namespace mapi::engine
