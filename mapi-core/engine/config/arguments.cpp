// SPDX-License-Identifier: MIT
// Arguments: what a client passed to a function.
#include "engine/config/arguments.hpp"

#include <charconv>

namespace mapi::engine
{
std::string argument_letters(const mapi_function &function)
{
    std::string letters;
    int marked = 0; // bits of MAPI_OPTIONAL_COUNTED that are already written
    for (const uint16_t *argument = function.arguments;
         argument != function.arguments + MAPI_ARGUMENTS_MAX && *argument; ++argument) {
        const int optional = *argument & MAPI_OPTIONAL_COUNTED;
        if (optional & ~marked)
            letters += optional == MAPI_OPTIONAL ? "?" : "??";
        marked |= optional;
        letters += char(MAPI_ARGUMENT_KIND(*argument));
    }
    return letters;
}

std::vector<int> read_flow_list(const std::string &text)
{
    std::vector<int> flows;
    const char *at = text.data(), *const end = at + text.size();
    do {
        int flow = 0;
        const auto number = std::from_chars(at, end, flow);
        if (number.ec != std::errc() ||
            (number.ptr != end && (*number.ptr != ',' || number.ptr + 1 == end)))
            return {};
        flows.push_back(flow);
        at = number.ptr == end ? end : number.ptr + 1;
    } while (at != end);
    return flows;
}
} // namespace mapi::engine
