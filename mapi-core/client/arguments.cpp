// SPDX-License-Identifier: MIT
// Arguments: a variable argument list -> owned arguments.
#include "client/arguments.hpp"

#include <algorithm>
#include <string_view>

#include "engine/error.hpp"

namespace mapi::client
{
namespace
{
int argument_error(int position)
{
    constexpr int kNumbers[] = {MFUNCT_INVALID_ARGUMENT_1, MFUNCT_INVALID_ARGUMENT_2, MFUNCT_INVALID_ARGUMENT_3,
                                MFUNCT_INVALID_ARGUMENT_4, MFUNCT_INVALID_ARGUMENT_5, MFUNCT_INVALID_ARGUMENT_6};
    return position <= 6 ? kNumbers[position - 1] : MFUNCT_INVALID_ARGUMENT;
}

const char *kind_name(char kind)
{
    switch (kind) {
    case 's': return "a string";
    case 'l': return "a 64-bit number";
    case 'r': return "a flow";
    case 'f': return "a function of that flow";
    default: return "an int";
    }
}

// 'f' is of the flow that 'r' names, right before it.
void find_targets(const std::string &name, engine::Arguments &arguments, const FindTarget &find_target)
{
    for (size_t i = 1; i < arguments.size(); ++i) {
        if (arguments[i].kind != 'f')
            continue;
        const int fd = int(arguments[i - 1].number);
        try {
            arguments[i].target = find_target(fd, int(arguments[i].number));
        } catch (const Error &error) {
            const bool is_flow = error.number() == MAPI_INVALID_FLOW;
            const int position = int(is_flow ? i : i + 1);
            throw Error(argument_error(position), name + ": argument " + std::to_string(position) + ": " +
                                                      (is_flow ? "" : "flow " + std::to_string(fd) + " ") + error.what());
        }
    }
}
} // namespace

// va_list may be an array type, so it is taken by value and read only here.
engine::Arguments read_arguments(const mapi_function &function, int count, va_list list, const FindTarget &find_target)
{
    const std::string_view description = function.args;
    const int most = int(description.size() - size_t(std::count(description.begin(), description.end(), '?')));
    const std::string name = function.name;
    if (count == kCountUnknown)
        count = most;
    if (count > most)
        throw Error(argument_error(most + 1), name + ": takes " + std::to_string(most) + " arguments, not " + std::to_string(count));
    engine::Arguments arguments;
    bool optional = false;
    for (const char kind : description) {
        if (kind == '?') {
            optional = true;
            continue;
        }
        const int position = int(arguments.size()) + 1;
        engine::Argument argument;
        if (position > count) {
            if (!optional)
                throw Error(argument_error(position), name + ": argument " + std::to_string(position) + ", " + kind_name(kind) + ", is missing");
            arguments.push_back(argument);
            continue;
        }
        argument.kind = kind;
        if (kind == 's') {
            const char *text = va_arg(list, const char *);
            if (!text)
                throw Error(argument_error(position), name + ": argument " + std::to_string(position) + " is a null pointer");
            argument.text = text;
        } else if (kind == 'l') {
            argument.number = int64_t(va_arg(list, unsigned long long));
        } else {
            argument.number = va_arg(list, int);
        }
        arguments.push_back(std::move(argument));
    }
    find_targets(name, arguments, find_target);
    return arguments;
}
} // namespace mapi::client
