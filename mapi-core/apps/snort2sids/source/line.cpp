// SPDX-License-Identifier: MIT
// line: a line of a rule file, perhaps continued, and the place of each of its letters.
#include "line.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "common/command/printable.hpp"
#include "common/file_error/file_error.h"

namespace snort2sids
{
namespace
{
constexpr size_t kShownBefore = 60, kShownAfter = 36;
constexpr uint64_t kMostFileBytes = 1u << 28;

std::string read_file(const std::string &path)
{
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string content;
    if (file) {
        constexpr size_t kBlockBytes = 1 << 16;
        std::string block(kBlockBytes, 0);
        while (file.read(block.data(), std::streamsize(block.size())) || file.gcount() > 0) {
            content.append(block, 0, size_t(file.gcount()));
            if (content.size() > kMostFileBytes)
                throw std::runtime_error(path + ": more than 256 MiB is not a rule file");
        }
    }
    if (!file.eof() || file.bad())
        throw std::runtime_error(path + ": " + nslice_read_error(errno != 0 ? errno : EIO));
    return content;
}

bool is_space(char letter)
{
    return letter == ' ' || letter == '\t';
}
} // namespace

std::string Place::name() const
{
    return fmt::format("{}:{}:{}", file, line, column);
}

std::string Place::caret() const
{
    const size_t at = std::min<size_t>(column == 0 ? 0 : column - 1, text.size());
    const size_t first = at > kShownBefore ? at - kShownBefore : 0;
    std::string shown, below;
    for (size_t i = first; i < std::min(text.size(), at + kShownAfter); ++i) {
        const std::string letter = text[i] == '\t' ? " " : command::printable({&text[i], 1});
        shown += letter;
        below.append(i < at ? letter.size() : 0, ' ');
    }
    return fmt::format("  {}{}{}\n  {}{}^", first > 0 ? "..." : "", shown,
                       at + kShownAfter < text.size() ? "..." : "", first > 0 ? "   " : "", below);
}

Place Line::place(size_t offset) const
{
    const auto after =
        std::upper_bound(pieces.begin(), pieces.end(), offset,
                         [](size_t at, const Piece &piece) { return at < piece.offset; });
    if (after == pieces.begin())
        return {file, 0, 0, {}};
    const Piece &piece = *std::prev(after);
    return {file, piece.line, piece.column + (offset - piece.offset) + 1, piece.text};
}

Lines::Lines(const std::string &path) : Lines(path, read_file(path)) {}

Lines::Lines(std::string name, std::string content)
    : name_(std::move(name)), content_(std::move(content))
{
    if (content_.starts_with("\xef\xbb\xbf"))
        at_ = 3;
}

std::string Lines::next_physical()
{
    const size_t end = std::min(content_.find('\n', at_), content_.size());
    std::string text = content_.substr(at_, end - at_);
    at_ = end + 1;
    ++number_;
    while (!text.empty() && (text.back() == '\r' || is_space(text.back())))
        text.pop_back();
    return text;
}

std::optional<Line> Lines::next()
{
    if (at_ >= content_.size())
        return std::nullopt;
    Line line;
    line.file = name_;
    bool is_continued = true;
    while (is_continued && at_ < content_.size()) {
        const std::string text = next_physical();
        // A comment cannot be continued.
        const size_t first = std::min(text.find_first_not_of(" \t"), text.size());
        const bool is_comment = line.pieces.empty() && first < text.size() && text[first] == '#';
        is_continued = !is_comment && text.ends_with('\\');
        line.pieces.push_back({line.text.size(), number_, first, text});
        line.text += text.substr(first, text.size() - first - (is_continued ? 1 : 0));
    }
    return line;
}
} // namespace snort2sids
