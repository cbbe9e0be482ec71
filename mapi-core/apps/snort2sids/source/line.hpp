// SPDX-License-Identifier: MIT
// line: a line of a rule file, perhaps continued, and the place of each of its letters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace snort2sids
{
struct Place {
    std::string file;
    uint64_t line = 0, column = 0; // from 1
    std::string text;              // the line of the file

    std::string name() const; // "web.rules:12:34"
    // The part of the line around the place, and a "^" below it; two lines, indented.
    std::string caret() const;
};

struct Line {
    std::string text; // without spaces at its ends, continued lines joined

    Place place(size_t offset) const;

    struct Piece {
        size_t offset;    // in `text`
        uint64_t line;    // of the file
        size_t column;    // of the piece, from 0
        std::string text; // of the file's line
    };
    std::vector<Piece> pieces;
    std::string file;
};

// Lines of a file, in order.  Comments and empty lines are lines, too.
class Lines
{
public:
    // Throws std::runtime_error if the file cannot be read.
    explicit Lines(const std::string &path);
    Lines(std::string name, std::string content);

    std::optional<Line> next();
    uint64_t bytes() const { return content_.size(); }

private:
    std::string next_physical();

    std::string name_, content_;
    size_t at_ = 0;
    uint64_t number_ = 0;
};
} // namespace snort2sids
