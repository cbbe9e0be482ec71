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
    return kind == 's' ? "a string" : kind == 'l' ? "a 64-bit number" : "an int";
}
} // namespace

// va_list may be an array type, so it is taken by value and read only here.
engine::Arguments read_arguments(const mapi_function &function, int count, va_list list)
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
    return arguments;
}
} // namespace mapi::client
