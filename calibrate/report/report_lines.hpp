// SPDX-License-Identifier: MIT
// report: builds a text line by line; also the lines above and below every table.
#pragma once

#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "report.hpp"

namespace calibrate
{
class Lines
{
public:
    template <typename... Args> void line(fmt::format_string<Args...> form, Args &&...args)
    {
        fmt::format_to(std::back_inserter(text_), form, std::forward<Args>(args)...);
        text_ += '\n';
    }
    void add(const std::string &text) { text_ += text; }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

std::string context_text(const Report &report);
std::string warnings_text(const Report &report); // begins with an empty line, if any
} // namespace calibrate
