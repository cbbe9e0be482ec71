// SPDX-License-Identifier: MIT
// terminal: a descriptor -> its size, and whether to print colours there.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace command
{
struct Screen {
    size_t columns = 80;
    size_t lines = 24;
    bool has_colours = false;
};

// `colour`: auto, always or never.  auto follows https://no-color.org: on a terminal, unless
// NO_COLOR is set or TERM is dumb.
inline Screen screen_of(int fd, const std::string &colour)
{
    Screen screen;
    const bool is_terminal = isatty(fd) == 1;
    winsize size{};
    if (is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        screen.columns = size.ws_col;
        screen.lines = size.ws_row;
    }
    const char *const refused = std::getenv("NO_COLOR");
    const char *const kind = std::getenv("TERM");
    const bool may_have =
        is_terminal && !(refused && *refused) && std::string_view(kind ? kind : "dumb") != "dumb";
    screen.has_colours = colour == "always" || (colour == "auto" && may_have);
    return screen;
}
} // namespace command
