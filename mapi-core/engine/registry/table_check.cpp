// SPDX-License-Identifier: MIT
// Table check: the promises of mapi/function.h and mapi/driver.h that can be checked.
#include "engine/registry/table_check.hpp"

#include <algorithm>
#include <iterator>

namespace mapi::engine
{
namespace
{
template <class Part> std::string outdated(const char *name, const Part *part)
{
    return part && part->struct_size < sizeof(Part)
               ? std::string("its ") + name +
                     " was built with headers of an earlier version, or has no struct_size"
               : "";
}

std::string find_outdated(const mapi_function &function)
{
    for (const std::string &text :
         {outdated("ending", function.ending), outdated("result", function.result),
          outdated("transform", function.transform), outdated("filter", function.filter),
          outdated("group", function.group), outdated("config", function.config),
          outdated("offload", function.offload)}) {
        if (!text.empty())
            return text;
    }
    return {};
}

bool is_argument_kind(unsigned kind)
{
    constexpr mapi_argument_kind kKinds[] = {
        MAPI_ARGUMENT_STRING,    MAPI_ARGUMENT_STRING_OR_NUMBER,
        MAPI_ARGUMENT_INT,       MAPI_ARGUMENT_INT64,
        MAPI_ARGUMENT_BOOL,      MAPI_ARGUMENT_CHARACTER,
        MAPI_ARGUMENT_PATH,      MAPI_ARGUMENT_FLOW,
        MAPI_ARGUMENT_FUNCTION,  MAPI_ARGUMENT_FLOWS,
        MAPI_ARGUMENT_FUNCTIONS, MAPI_ARGUMENT_FILE,
        MAPI_ARGUMENT_ROTATION,  MAPI_ARGUMENT_OUTPUT,
        MAPI_ARGUMENT_USER};
    return std::any_of(std::begin(kKinds), std::end(kKinds),
                       [&](mapi_argument_kind known) { return unsigned(known) == kind; });
}

std::string find_wrong_argument(const mapi_function &function)
{
    for (unsigned i = 0; i < MAPI_ARGUMENTS_MAX && function.arguments[i]; ++i) {
        if (!is_argument_kind(MAPI_ARGUMENT_KIND(function.arguments[i])) ||
            (function.arguments[i] & ~(0xff | MAPI_OPTIONAL_COUNTED)))
            return "argument " + std::to_string(i + 1) + " is not of enum mapi_argument_kind";
    }
    if (function.arguments[MAPI_ARGUMENTS_MAX] != 0)
        return "has more than " + std::to_string(MAPI_ARGUMENTS_MAX) + " arguments";
    return {};
}

// What only create() can do.
std::string find_missing_create(const mapi_function &function)
{
    constexpr uint32_t kFlags = MAPI_FUNCTION_RESULT_IN_PLACE | MAPI_FUNCTION_RESULTS_IN_RING |
                                MAPI_FUNCTION_PACKETS_IN_RING | MAPI_FUNCTION_METER_END;
    if (function.create)
        return {};
    if (function.destroy)
        return "has a destroy() but no create()";
    if (function.arguments[0] || function.config)
        return "has arguments or a config but no create() that reads them";
    if (function.flags & kFlags)
        return "a flag requires a create(), which it lacks";
    return {};
}

std::string find_wrong_result(const mapi_function &function)
{
    const bool is_in_place = function.flags & MAPI_FUNCTION_RESULT_IN_PLACE;
    const bool is_copied = function.flags & MAPI_FUNCTION_RESULT_COPIED;
    const mapi_function_result none = {};
    const mapi_function_result &result = function.result ? *function.result : none;
    if (is_copied && result.compose)
        return "result is copied for readers, but there is a compose()";
    if (is_copied && !is_in_place)
        return "result is copied for readers, but is not in place";
    if ((result.read || result.compose) && !is_in_place)
        return "has a read() or compose() of a result that is not in place";
    if (result.kept_words != 0 && !result.compose)
        return "has kept_words but no compose()";
    if (is_in_place && function.result_bytes != 0)
        return "result is in place, but result_bytes is not 0; allocate_result() sets the size";
    if ((function.flags & MAPI_FUNCTION_ADDITIVE) && function.result_bytes != sizeof(uint64_t))
        return "is ADDITIVE, but its result is not one uint64_t";
    if (function.result_bytes > MAPI_RESULT_BYTES_MAX)
        return "result has " + std::to_string(function.result_bytes) + " bytes, more than " +
               std::to_string(MAPI_RESULT_BYTES_MAX);
    return {};
}

std::string find_wrong_part(const mapi_function &function)
{
    const bool is_pure = function.flags & MAPI_FUNCTION_PURE;
    const bool has_result =
        (function.flags & MAPI_FUNCTION_RESULT_IN_PLACE) || function.result_bytes != 0;
    if (!function.process)
        return "has no process()";
    if (function.transform && !function.transform->next_batch)
        return "creates packets but has no next_batch()";
    if (function.group &&
        (!function.group->create || !function.group->process || !function.group->destroy))
        return "its group lacks create(), process() or destroy()";
    if (function.group && function.group->process_inputs &&
        !(function.flags & MAPI_FUNCTION_GROUP_OF_ANY_MASKS))
        return "its group has a process_inputs() but the function does not join any masks";
    if (function.group && !is_pure)
        return "has a group but is not PURE";
    if (function.config && !function.config->section)
        return "its config has no section";
    if (function.filter && function.filter->prefilter && (!is_pure || has_result))
        return "has a prefilter() but is not PURE, or has a result";
    if (function.group && function.group->prefilter && has_result)
        return "its group has a prefilter() but the function has a result";
    return {};
}
} // namespace

std::string find_mistake(const mapi_function &function)
{
    for (const auto find : {find_outdated, find_wrong_argument, find_wrong_part,
                            find_missing_create, find_wrong_result}) {
        if (std::string text = find(function); !text.empty())
            return text;
    }
    return {};
}

std::string find_mistake(const mapi_driver &driver)
{
    for (std::string text :
         {outdated("live", driver.live), outdated("file", driver.file),
          outdated("filter", driver.filter), outdated("offload", driver.offload)}) {
        if (!text.empty())
            return text;
    }
    if (!driver.open || !driver.read || !driver.close)
        return "has no open(), read() or close()";
    if (driver.live && !driver.live->wait)
        return "is live but has no wait()";
    return {};
}
} // namespace mapi::engine
