// SPDX-License-Identifier: MIT
// Source line: one or more lines of a file, joined where they end in \ -> text whose bytes know
// their place in the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sids
{
// Of the joined text; columns are bytes, from 1.
struct LinePiece {
    size_t offset = 0;
    uint32_t line = 0;
    uint32_t column = 1;
};

struct SourceLine {
    std::shared_ptr<const std::string> path;
    std::string text;
    std::vector<LinePiece> pieces; // at least one, in order
};

struct Place {
    uint32_t line = 0;
    uint32_t column = 0;
    std::string excerpt;     // what is printed of the line, in one row
    size_t caret_column = 0; // in the excerpt, from 0
};

Place place_of(const SourceLine &line, size_t offset);

// What is wrong in a rule file.
struct RuleError {
    std::shared_ptr<const SourceLine> line; // null: the whole file, or a file that cannot be read
    size_t offset = 0;
    std::string message; // for a file begins with its path
};

// "FILE:LINE:COLUMN: MESSAGE", the line and a caret under the place.
std::string error_text(const RuleError &error);
} // namespace sids
