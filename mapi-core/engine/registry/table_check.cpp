// SPDX-License-Identifier: MIT
// Table check: the promises of mapi/function.h and mapi/driver.h that can be checked.
#include "engine/registry/table_check.hpp"

namespace mapi::engine
{
namespace
{
constexpr const char *kOutdated =
    "a part was built with headers of an earlier version, or has no struct_size";

template <class Part> bool is_part_outdated(const Part *part)
{
    return part && part->struct_size < sizeof(Part);
}
} // namespace

std::string find_mistake(const mapi_function &function)
{
    const bool is_in_place = function.flags & MAPI_FUNCTION_RESULT_IN_PLACE;
    const bool is_copied = function.flags & MAPI_FUNCTION_RESULT_COPIED;
    const bool has_result = is_in_place || function.result_bytes != 0;
    if (is_part_outdated(function.ending) || is_part_outdated(function.result) ||
        is_part_outdated(function.transform) || is_part_outdated(function.filter) ||
        is_part_outdated(function.group) || is_part_outdated(function.config))
        return kOutdated;
    if (!function.process)
        return "has no process()";
    if (function.transform && !function.transform->next_batch)
        return "creates packets but has no next_batch()";
    if (function.group &&
        (!function.group->create || !function.group->process || !function.group->destroy))
        return "its group lacks create(), process() or destroy()";
    if (is_copied && function.result && function.result->compose)
        return "result is copied for readers, but there is a compose()";
    if (is_copied && !is_in_place)
        return "result is copied for readers, but is not in place";
    if (is_in_place && function.result_bytes != 0)
        return "result is in place, but result_bytes is not 0; allocate_result() sets the size";
    if (function.filter && function.filter->prefilter &&
        (!(function.flags & MAPI_FUNCTION_PURE) || has_result))
        return "has a prefilter() but is not PURE, or has a result";
    if (function.result_bytes > MAPI_RESULT_BYTES_MAX)
        return "result has " + std::to_string(function.result_bytes) + " bytes, more than " +
               std::to_string(MAPI_RESULT_BYTES_MAX);
    return {};
}

std::string find_mistake(const mapi_driver &driver)
{
    if (is_part_outdated(driver.live) || is_part_outdated(driver.file) ||
        is_part_outdated(driver.filter))
        return kOutdated;
    if (!driver.open || !driver.read || !driver.close)
        return "has no open(), read() or close()";
    if (driver.live && !driver.live->wait)
        return "is live but has no wait()";
    return {};
}
} // namespace mapi::engine
