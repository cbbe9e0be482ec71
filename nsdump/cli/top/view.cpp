// SPDX-License-Identifier: MIT
// cli: keys and intervals -> what the screen shows.
#include "cli/top/view.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "export/columns.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
constexpr char kEscape = 27, kBackspace = 8, kDelete = 127;
constexpr size_t kMostFilterBytes = 100, kMostFollowing = 3; // bytes after a character's first

constexpr const char *kHelp = R"(Keys of nsdump top

  s      next order: time, instructions, packet, rate
  t i p  sort by time, by instructions (or the first counter), by time per packet
  c      sort by calls per second
  r      reverse the order
  /      show only names that contain what you type; Enter ends it, Escape undoes it
  space  pause; the program continues to be watched
  h ?    this help
  q      quit; the program continues without being watched

Columns: calls per second; mean time, counter and time per packet, net of the probes' own cost
("r": raw, for want of a calibration), with 95 % intervals; share of one CPU, slices inside
included.

Any key leaves this help.
)";

bool is_continuation(char byte)
{
    return (uint8_t(byte) & 0xc0) == 0x80;
}
} // namespace

void TopView::take(TopInterval interval)
{
    if (is_paused_ && !interval.has_ended)
        return;
    if (has_interval_ && interval.has_ended && interval.live.report.records == 0)
        shown_.has_ended = true;
    else
        shown_ = std::move(interval);
    has_interval_ = true;
}

void TopView::edit_filter(char key)
{
    if (key == '\n' || key == '\r') {
        is_editing_ = false;
    } else if (key == kEscape) {
        order_.filter = filter_before_;
        is_editing_ = false;
    } else if (key == kBackspace || key == kDelete) {
        while (!order_.filter.empty() && is_continuation(order_.filter.back()))
            order_.filter.pop_back();
        if (!order_.filter.empty())
            order_.filter.pop_back();
    } else if (uint8_t(key) >= ' ') {
        add_to_filter(key);
    }
}

// The bytes of a character come one by one.
void TopView::add_to_filter(char key)
{
    const size_t bytes = order_.filter.size();
    has_room_ = is_continuation(key) ? has_room_ && bytes < kMostFilterBytes + kMostFollowing
                                     : bytes < kMostFilterBytes;
    if (has_room_)
        order_.filter += key;
}

void TopView::press(char key)
{
    if (is_editing_)
        return edit_filter(key);
    if (is_help_) {
        is_help_ = false;
        return;
    }
    switch (key) {
    case 'q': wants_to_quit_ = true; break;
    case 's': order_.sort = TopSort((size_t(order_.sort) + 1) % kTopSorts.size()); break;
    case 't': order_.sort = TopSort::kTime; break;
    case 'i': order_.sort = TopSort::kInstructions; break;
    case 'p': order_.sort = TopSort::kPacket; break;
    case 'c': order_.sort = TopSort::kRate; break;
    case 'r': order_.is_reverse = !order_.is_reverse; break;
    case ' ': is_paused_ = !is_paused_; break;
    case 'h':
    case '?': is_help_ = true; break;
    case '/':
        filter_before_ = order_.filter;
        is_editing_ = true;
        break;
    default: break;
    }
}

std::string TopView::last_line() const
{
    if (is_editing_)
        return "only names with: " + printable(order_.filter) + "_";
    return std::string(is_paused_ ? "paused; " : "") +
           "s: sort  r: reverse  /: filter  space: pause  h: help  q: quit";
}

std::string TopView::table(const TopLimits &limits) const
{
    return top_table(shown_, rows_of(shown_, order_), order_, limits);
}

std::string TopView::frame(size_t rows, size_t columns) const
{
    if (is_help_)
        return kHelp;
    const size_t rows_of_slices = rows > kTopHeadLines + 1 ? rows - kTopHeadLines - 1 : 0;
    std::string text =
        has_interval_ ? table({rows_of_slices, columns}) : "waiting for the first interval\n";
    const auto lines = size_t(std::count(text.begin(), text.end(), '\n'));
    if (lines + 1 < rows)
        text += std::string(rows - lines - 1, '\n');
    return text + cut_to(last_line(), columns, "") + "\n";
}
} // namespace nsdump
