// SPDX-License-Identifier: MIT
// apply_call: a call as data -> mapi_apply_function().
#include "flow_expression/apply_call.hpp"

#include <array>
#include <cstddef>

#include <mapi/mapi.h>

namespace flow_expression
{
namespace
{
constexpr size_t kMostArguments =
    8; // of libmapi's own functions; further arguments of a plug-in are not supported here

// `list` owns the text that the returned word points to.
intptr_t give(int flow, const Steps &steps, const std::vector<int> &functions, std::string &list)
{
    if (steps.letter == 'r')
        return flow;
    if (steps.letter == 'f')
        return functions.at(steps.places.at(0) - 1);
    if (steps.letter == 'F')
        list = std::to_string(flow);
    for (const unsigned place : steps.places)
        list += (list.empty() ? "" : ",") + std::to_string(functions.at(place - 1)) + "@" +
                std::to_string(flow);
    return intptr_t(list.c_str());
}
} // namespace

int apply_call(int flow, const Call &call, const std::vector<int> &functions)
{
    std::vector<std::string> lists(call.arguments.size());
    std::array<intptr_t, kMostArguments> words = {};
    std::string kinds; // letters of mapi/argument_types.h
    for (size_t i = 0; i < call.arguments.size() && i < words.size(); ++i) {
        if (const auto *text = std::get_if<std::string>(&call.arguments[i])) {
            words[i] = intptr_t(text->c_str());
            kinds += 's';
        } else if (const auto *number = std::get_if<int64_t>(&call.arguments[i])) {
            words[i] = *number;
            kinds += 'l';
        } else {
            const Steps &steps = std::get<Steps>(call.arguments[i]);
            words[i] = give(flow, steps, functions, lists[i]);
            kinds += steps.letter == 'r' || steps.letter == 'f' ? 'l' : 's';
        }
    }
    // A variadic function takes pointers and numbers of any width as one word each; libmapi rejects
    // a wrong number of arguments.
    return mapi_apply_function_typed(kinds.c_str(), flow, call.function.c_str(), words[0], words[1],
                                     words[2], words[3], words[4], words[5], words[6], words[7]);
}
} // namespace flow_expression
