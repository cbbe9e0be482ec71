// SPDX-License-Identifier: MIT
// Line reader: the text of a rule file -> its rules and directives, one joined line each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "source_line.hpp"

namespace sids
{
class LineReader
{
public:
    // The text must outlive the reader.
    LineReader(std::shared_ptr<const std::string> path, std::string_view text);

    // Skips comments and empty lines; the text of a line has no blanks at its ends.  Null at the
    // end.
    std::shared_ptr<const SourceLine> next();

private:
    // A line of the file without its end.
    std::optional<std::string_view> take();

    std::shared_ptr<const std::string> path_;
    std::string_view rest_;
    uint32_t line_ = 0;
};
} // namespace sids
