// SPDX-License-Identifier: MIT
#include "line_reader.hpp"

#include "characters.hpp"

namespace sids
{
namespace
{
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Whether it ends in a \ that no other \ precedes.
bool is_continued(std::string_view text)
{
    size_t count = 0;
    while (count < text.size() && text[text.size() - 1 - count] == '\\')
        ++count;
    return count % 2 == 1;
}
} // namespace

LineReader::LineReader(std::shared_ptr<const std::string> path, std::string_view text)
    : path_(std::move(path)), rest_(text)
{
    if (rest_.starts_with(kByteOrderMark))
        rest_.remove_prefix(kByteOrderMark.size());
}

std::optional<std::string_view> LineReader::take()
{
    if (rest_.empty())
        return std::nullopt;
    const size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    ++line_;
    return line;
}

std::shared_ptr<const SourceLine> LineReader::next()
{
    while (auto line = take()) {
        const size_t blanks = count_blanks(*line);
        line->remove_prefix(blanks);
        if (line->empty() || line->front() == '#')
            continue;
        auto joined = std::make_shared<SourceLine>();
        joined->path = path_;
        joined->pieces.push_back({0, line_, uint32_t(blanks + 1)});
        while (line && is_continued(*line)) {
            joined->text += line->substr(0, line->size() - 1);
            if ((line = take()))
                joined->pieces.push_back({joined->text.size(), line_, 1});
        }
        if (line)
            joined->text += *line;
        joined->text.resize(without_blanks_at_end(joined->text).size());
        if (!joined->text.empty())
            return joined;
    }
    return nullptr;
}
} // namespace sids
