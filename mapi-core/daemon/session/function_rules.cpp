// SPDX-License-Identifier: MIT
#include "daemon/session/function_rules.hpp"

#include <algorithm>
#include <string>

#include <mapi/errors.h>

#include "engine/error.hpp"
#include "engine/node/function_traits.hpp"

namespace mapi::daemon
{
void check_readable(const mapi_function &function, const engine::Registry &registry)
{
    const bool is_own = !registry.plugins().libraries.contains(&function);
    const engine::FunctionTraits traits(function);
    if (traits.reads_result() || (traits.composes_result() && !is_own))
        throw Error(MFUNCT_COULD_NOT_APPLY_FUNCT,
                    std::string(function.name) +
                        ": unsupported through mapid: only the plug-in can read its result "
                        "(MAPI_SOCKET=none loads it into the program)");
}

void check_sending(const mapi_function &function, const engine::Arguments &arguments,
                   const Peer &peer)
{
    const bool sends =
        (function.flags & MAPI_FUNCTION_SENDS) ||
        std::any_of(arguments.begin(), arguments.end(), [](const engine::Argument &argument) {
            return argument.kind == MAPI_ARGUMENT_OUTPUT && !argument.file &&
                   argument.text != "SHMEM";
        });
    if (sends && !is_operator(peer))
        throw Error(MAPID_NOT_AUTHENTICATED,
                    std::string(function.name) +
                        ": permission denied: mapid only sends for root and its own user (with "
                        "MAPI_SOCKET=none the program sends by itself)");
}

void check_lengths(const mapi_function &function, const engine::Arguments &arguments)
{
    for (const engine::Argument &argument : arguments) {
        if (function.text_bytes_max != 0 && argument.text.size() > function.text_bytes_max)
            throw Error(MAPI_LIMIT_REACHED, std::string(function.name) + ": a text of " +
                                                std::to_string(argument.text.size()) +
                                                " bytes is too long: mapid accepts at most " +
                                                std::to_string(function.text_bytes_max) +
                                                " (no limit with MAPI_SOCKET=none)");
    }
}
} // namespace mapi::daemon
