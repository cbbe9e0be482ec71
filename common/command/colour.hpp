// SPDX-License-Identifier: MIT
// colour: what the user chose and a descriptor -> whether to print colours there.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace command
{
// `choice`: auto, always or never.  auto follows https://no-color.org: on a terminal, unless
// NO_COLOR is set or TERM is dumb.
inline bool has_colours(int fd, std::string_view choice)
{
    if (choice != "auto")
        return choice == "always";
    const char *const refused = std::getenv("NO_COLOR");
    const char *const kind = std::getenv("TERM");
    return isatty(fd) == 1 && !(refused && *refused) &&
           std::string_view(kind ? kind : "dumb") != "dumb";
}
} // namespace command
