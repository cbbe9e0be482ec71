// SPDX-License-Identifier: MIT
#include "source_line.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/command/printable.hpp"

namespace sids
{
namespace
{
constexpr size_t kBefore = 60, kAfter = 40; // bytes shown before and after the caret
constexpr const char *kLeftOut = "...";

std::string row_of(std::string text)
{
    std::replace(text.begin(), text.end(), '\t', ' ');
    return command::printable(text);
}

const LinePiece &piece_of(const SourceLine &line, size_t offset)
{
    const auto after =
        std::upper_bound(line.pieces.begin(), line.pieces.end(), offset,
                         [](size_t at, const LinePiece &piece) { return at < piece.offset; });
    return *std::prev(after == line.pieces.begin() ? std::next(after) : after);
}
} // namespace

Place place_of(const SourceLine &line, size_t offset)
{
    const LinePiece &piece = piece_of(line, offset);
    const LinePiece *const next = &piece == &line.pieces.back() ? nullptr : std::next(&piece);
    const size_t begin = piece.offset, end = next ? next->offset : line.text.size();
    const size_t from = offset - begin > kBefore ? offset - kBefore : begin;
    const size_t to = std::min(end, offset + kAfter);
    Place place;
    place.line = piece.line;
    place.column = uint32_t(piece.column + (offset - begin));
    std::string shown =
        (from > begin ? kLeftOut : "") + row_of(line.text.substr(from, offset - from));
    place.caret_column = shown.size();
    shown += row_of(line.text.substr(offset, to > offset ? to - offset : 0));
    place.excerpt = shown + (to < end ? kLeftOut : "");
    return place;
}

std::string error_text(const RuleError &error)
{
    if (!error.line)
        return error.message + "\n";
    const Place place = place_of(*error.line, std::min(error.offset, error.line->text.size()));
    return fmt::format("{}:{}:{}: {}\n  {}\n  {}^\n", *error.line->path, place.line, place.column,
                       error.message, place.excerpt, std::string(place.caret_column, ' '));
}
} // namespace sids
