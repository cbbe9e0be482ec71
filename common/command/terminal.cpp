// SPDX-License-Identifier: MIT
// terminal: frames of text -> the full screen; keys and changes of its size.
#include "terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/file_error/file_error.h"
#include "output.hpp"

namespace command
{
namespace
{
// The alternate screen, without a cursor; what does not fit a line is not shown.
constexpr const char *kEnter = "\033[?1049h\033[?25l\033[?7l";
constexpr const char *kLeave = "\033[?7h\033[?25h\033[?1049l";
constexpr char kEscape = '\033';

volatile std::sig_atomic_t was_resized;

void note_resize(int)
{
    was_resized = 1;
}

// Without SA_RESTART: ends poll().
void catch_resizes()
{
    struct sigaction action = {};
    action.sa_handler = note_resize;
    sigaction(SIGWINCH, &action, nullptr);
}
} // namespace

TerminalSize terminal_size(int fd)
{
    TerminalSize size;
    struct winsize found = {};
    if (ioctl(fd, TIOCGWINSZ, &found) == 0 && found.ws_row > 0 && found.ws_col > 0)
        size = {found.ws_row, found.ws_col};
    return size;
}

FullScreen::FullScreen()
{
    catch_resizes();
    termios keys{};
    if (isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &before_) == 0) {
        keys = before_;
        keys.c_lflag &= ~tcflag_t(ICANON | ECHO);
        keys.c_cc[VMIN] = 1;
        keys.c_cc[VTIME] = 0;
        keys.c_cc[VSUSP] = _POSIX_VDISABLE; // stopping it would also stop the drain
        has_keys_ = is_changed_ = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
    }
    try {
        write_now(kEnter);
    } catch (...) {
        restore();
        throw;
    }
}

FullScreen::~FullScreen()
{
    restore();
}

void FullScreen::restore()
{
    if (write(STDOUT_FILENO, kLeave, std::char_traits<char>::length(kLeave)) < 0) {
        // The terminal is gone, and with it what could be restored.
    }
    if (is_changed_)
        tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void FullScreen::write_now(const std::string &text)
{
    for (size_t done = 0; done < text.size();) {
        const ssize_t written = write(STDOUT_FILENO, text.data() + done, text.size() - done);
        if (written < 0 && errno == EPIPE)
            throw OutputClosed();
        if (written < 0 && errno != EINTR)
            throw OutputError(std::string("the terminal cannot be written: ") +
                              nslice_write_error(errno));
        done += written > 0 ? size_t(written) : 0;
    }
}

// Overwrites the frame before, so that nothing flickers.
void FullScreen::show(const std::string &frame)
{
    const size_t rows = terminal_size().rows;
    std::string text = "\033[H";
    size_t row = 0, begin = 0;
    while (begin < frame.size() && row < rows) {
        const size_t end = std::min(frame.find('\n', begin), frame.size());
        text += (row == 0 ? "" : "\r\n") + frame.substr(begin, end - begin) + "\033[K";
        begin = end + 1;
        ++row;
    }
    write_now(text + "\033[J");
}

std::optional<char> FullScreen::read_byte(int milliseconds)
{
    pollfd input = {has_keys_ ? STDIN_FILENO : -1, POLLIN, 0};
    if (poll(&input, 1, milliseconds) <= 0)
        return std::nullopt;
    char byte = 0;
    const ssize_t got = read(STDIN_FILENO, &byte, 1);
    if (got == 0 || (got < 0 && errno != EINTR))
        has_keys_ = false; // the terminal is gone
    return got == 1 ? std::optional(byte) : std::nullopt;
}

// Escape, '[', parameters, a letter; or Escape, 'O', a letter.
std::optional<char> FullScreen::read_key(int milliseconds)
{
    const std::optional<char> key = read_byte(milliseconds);
    if (key != kEscape)
        return key;
    std::optional<char> next = read_byte(0);
    if (!next)
        return key;
    if (next == 'O')
        read_byte(0);
    if (next == '[')
        do
            next = read_byte(0);
        while (next && *next < '@');
    return std::nullopt;
}

bool FullScreen::take_resize()
{
    const bool was = was_resized != 0;
    was_resized = 0;
    return was;
}
} // namespace command
