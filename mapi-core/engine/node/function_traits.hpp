// SPDX-License-Identifier: MIT
// Function traits: a function's table -> what the engine may do with its nodes.
#pragma once

#include <mapi/function.h>

namespace mapi::engine
{
class FunctionTraits
{
public:
    explicit FunctionTraits(const mapi_function &function) : function_(function) {}

    bool is_shareable() const { return is_pure() || is_additive(); }
    bool is_pure() const { return has_flag(MAPI_FUNCTION_PURE); }
    bool is_additive() const { return has_flag(MAPI_FUNCTION_ADDITIVE); }
    bool passes_all() const { return has_flag(MAPI_FUNCTION_PASSES_ALL); }
    bool transforms() const { return function_.transform; }
    bool begins_meter() const { return has_flag(MAPI_FUNCTION_METER_BEGIN); }
    bool ends_meter() const { return has_flag(MAPI_FUNCTION_METER_END); }
    bool can_be_grouped() const { return is_pure() && function_.group; }
    bool joins_any_masks() const { return has_flag(MAPI_FUNCTION_GROUP_OF_ANY_MASKS); }
    bool is_shared_by_step() const { return has_flag(MAPI_FUNCTION_SHARED_BY_STEP); }
    bool runs_every_batch() const { return has_flag(MAPI_FUNCTION_EVERY_BATCH); }
    bool can_prefilter() const { return function_.filter && function_.filter->prefilter; }
    // True if its state is only counts, or its table has reset().
    bool can_be_reset() const { return is_shareable() || function_.reset; }
    // Only its own code can read its result.
    bool reads_result() const { return function_.result && function_.result->read; }
    bool composes_result() const { return function_.result && function_.result->compose; }
    bool has_flag(mapi_function_flags flag) const { return (function_.flags & flag) != 0; }

private:
    const mapi_function &function_;
};
} // namespace mapi::engine
