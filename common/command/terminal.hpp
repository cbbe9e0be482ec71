// SPDX-License-Identifier: MIT
// terminal: frames of text -> the full screen; keys and changes of its size.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <termios.h>
#include <unistd.h>

namespace command
{
struct TerminalSize {
    size_t rows = 24;
    size_t columns = 80;
};

// Of the terminal on standard output, or another descriptor; of a usual one if it is none.
TerminalSize terminal_size(int fd = STDOUT_FILENO);

// While it exists, standard output shows the alternate screen, and standard input, if it is the
// terminal, gives keys as they are pressed, without echo.  Ctrl-C remains a signal.
class FullScreen
{
public:
    FullScreen();
    ~FullScreen();
    FullScreen(const FullScreen &) = delete;
    FullScreen &operator=(const FullScreen &) = delete;

    // Lines that end with '\n'; those below the last row, and letters
    // beyond the last column, are left out.  Throws OutputClosed or OutputError.
    void show(const std::string &frame);
    // The next key, waiting for it up to `milliseconds`; none also after a signal.  Keys that send
    // more than one byte, such as arrows, are skipped.
    std::optional<char> read_key(int milliseconds);
    // Whether the size has changed since the last call.
    bool take_resize();

private:
    void write_now(const std::string &text);
    void restore();
    std::optional<char> read_byte(int milliseconds);

    bool has_keys_ = false;
    bool is_changed_ = false; // the terminal's input has other modes than before
    termios before_{};
};
} // namespace command
