// SPDX-License-Identifier: MIT
// cli: keys and intervals -> what the screen shows.
#pragma once

#include <string>

#include "cli/top/rows.hpp"
#include "cli/top/text.hpp"

namespace nsdump
{
class TopView
{
public:
    explicit TopView(TopOrder order) : order_(std::move(order)) {}

    // A new interval.  A paused view keeps the old one, as it does if the program has ended without
    // records in the new one.
    void take(TopInterval interval);
    void press(char key);
    bool wants_to_quit() const { return wants_to_quit_; }
    // The whole screen, with as many lines as it has rows.
    std::string frame(size_t rows, size_t columns) const;
    std::string table(const TopLimits &limits) const;
    const std::string &filter() const { return order_.filter; }

private:
    void edit_filter(char key);
    void add_to_filter(char key);
    std::string last_line() const;

    TopOrder order_;
    TopInterval shown_;
    bool has_interval_ = false;
    bool is_paused_ = false, is_help_ = false, is_editing_ = false, wants_to_quit_ = false;
    std::string filter_before_; // while it is edited
    bool has_room_ = true;      // for the character whose bytes come
};
} // namespace nsdump
