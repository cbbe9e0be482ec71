// SPDX-License-Identifier: MIT
#include "rule_set.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "characters.hpp"
#include "common/command/counted.hpp"
#include "common/command/printable.hpp"
#include "common/file_error/file_error.h"
#include "line_reader.hpp"
#include "option.hpp"

namespace sids
{
namespace
{
constexpr size_t kDepthMost = 16;    // of includes
constexpr size_t kFilesMost = 10000; // that include each other many times
constexpr size_t kFileBytesMost = size_t{1} << 28;
constexpr size_t kLineBytesMost = 65535;
constexpr size_t kReadBytes = size_t{1} << 16;

struct FileId {
    dev_t device;
    ino_t number;
    bool operator==(const FileId &other) const
    {
        return device == other.device && number == other.number;
    }
};

struct Text {
    std::string text;
    FileId id = {};
    std::string wrong; // empty: it was read
};

using File = std::unique_ptr<FILE, int (*)(FILE *)>;

// Null with errno.
File open_file(const std::string &path, Reading reading)
{
    const int waiting = reading == Reading::kAgain ? O_NONBLOCK : 0; // for the writer of a pipe
    const int number = open(path.c_str(), O_RDONLY | O_CLOEXEC | waiting);
    FILE *const file = number < 0 ? nullptr : fdopen(number, "r");
    if (number >= 0 && !file)
        close(number);
    return {file, fclose};
}

Text read_file(const std::string &path, Reading reading)
{
    Text read;
    const File file = open_file(path, reading);
    struct stat status = {};
    if (!file || fstat(fileno(file.get()), &status) != 0) {
        read.wrong = nslice_read_error(errno);
        return read;
    }
    if (reading == Reading::kAgain && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        read.wrong = "is a pipe or a device, which is not read again (use a file)";
        return read;
    }
    read.id = {status.st_dev, status.st_ino};
    size_t bytes = 0;
    do {
        const size_t before = read.text.size();
        read.text.resize(before + kReadBytes);
        errno = 0;
        bytes = fread(read.text.data() + before, 1, kReadBytes, file.get());
        read.text.resize(before + bytes);
    } while (bytes == kReadBytes && read.text.size() <= kFileBytesMost);
    if (ferror(file.get()))
        read.wrong = nslice_read_error(errno);
    else if (read.text.size() > kFileBytesMost)
        read.wrong = fmt::format("has more than {} bytes", kFileBytesMost);
    return read;
}

constexpr std::string_view kInclude = "include";

bool is_include(std::string_view text)
{
    return text.starts_with(kInclude) &&
           (text.size() == kInclude.size() || count_blanks(text.substr(kInclude.size(), 1)) == 1);
}

std::string beside(const std::string &file, const std::string &path)
{
    const size_t slash = file.rfind('/');
    return path.starts_with('/') || slash == std::string::npos ? path
                                                               : file.substr(0, slash + 1) + path;
}

class SetReader
{
public:
    SetReader(RuleErrors &errors, Reading reading) : errors_(errors), reading_(reading) {}

    void take_file(const std::string &path, const std::shared_ptr<const SourceLine> &from,
                   size_t offset)
    {
        if (++file_count_ > kFilesMost) {
            if (file_count_ == kFilesMost + 1)
                errors_.add({from, offset,
                             fmt::format("more than {} files are read, by includes", kFilesMost)});
            return;
        }
        const Text read = read_file(path, reading_);
        if (!read.wrong.empty())
            return errors_.add(
                {from, offset, fmt::format("{}: {}", command::printable(path), read.wrong)});
        if (std::find(open_.begin(), open_.end(), read.id) != open_.end())
            return errors_.add(
                {from, offset, fmt::format("{} includes itself", command::printable(path))});
        if (open_.size() == kDepthMost)
            return errors_.add(
                {from, offset, fmt::format("includes are more than {} deep", kDepthMost)});
        open_.push_back(read.id);
        take_text(path, read.text);
        open_.pop_back();
    }

    void take_text(const std::string &path, std::string_view text)
    {
        LineReader lines(std::make_shared<const std::string>(path), text);
        while (const auto line = lines.next()) {
            if (line->text.size() > kLineBytesMost)
                errors_.add(
                    {line, 0, fmt::format("the rule has more than {} bytes", kLineBytesMost)});
            else if (is_include(line->text))
                take_include(line);
            else
                take_rule(line);
        }
    }

    std::vector<Rule> take_rules() { return std::move(rules_); }

private:
    void take_include(const std::shared_ptr<const SourceLine> &line)
    {
        size_t at = kInclude.size();
        at += count_blanks(std::string_view(line->text).substr(at));
        const std::string path =
            plain_text({at, without_blanks_at_end(std::string_view(line->text).substr(at))});
        if (path.empty())
            return errors_.add({line, at, "include requires the path of a file"});
        take_file(beside(*line->path, path), line, at);
    }

    void take_rule(const std::shared_ptr<const SourceLine> &line)
    {
        try {
            Rule rule = parse_rule(line);
            const auto [first, is_new] = lines_.emplace(rule.id, line);
            if (!is_new)
                return errors_.add(
                    {line, rule.id_at,
                     fmt::format("another rule has id {}: {}:{}", rule.id, *first->second->path,
                                 first->second->pieces.front().line)});
            if (rules_.size() == kRulesMost) {
                if (!is_full_)
                    errors_.add({line, 0, fmt::format("there are more than {} rules", kRulesMost)});
                is_full_ = true;
                return;
            }
            rules_.push_back(std::move(rule));
        } catch (const PlacedError &error) {
            errors_.add({line, error.offset(), error.what()});
        }
    }

    RuleErrors &errors_;
    const Reading reading_;
    std::vector<Rule> rules_;
    std::unordered_map<uint32_t, std::shared_ptr<const SourceLine>> lines_; // by id
    std::vector<FileId> open_; // files that are being read, outermost first
    size_t file_count_ = 0;
    bool is_full_ = false;
};
} // namespace

void RuleErrors::add(RuleError error)
{
    if (++count_ <= kErrorsShown)
        first_.push_back(std::move(error));
}

std::string RuleErrors::text() const
{
    std::string text;
    for (const RuleError &error : first_)
        text += error_text(error);
    if (count_ > first_.size())
        text += fmt::format("and {}\n", command::counted(count_ - first_.size(), "more error"));
    return text;
}

std::vector<Rule> read_rules(const std::vector<std::string> &paths, RuleErrors &errors,
                             Reading reading)
{
    SetReader reader(errors, reading);
    for (const std::string &path : paths)
        reader.take_file(path, nullptr, 0);
    std::vector<Rule> rules = reader.take_rules();
    if (rules.empty() && errors.are_none())
        errors.add({nullptr, 0, "the rule files have no rule"});
    return rules;
}

std::vector<Rule> read_rules_of_text(const std::string &name, std::string_view text,
                                     RuleErrors &errors)
{
    SetReader reader(errors, Reading::kFirst);
    reader.take_text(name, text);
    return reader.take_rules();
}
} // namespace sids
