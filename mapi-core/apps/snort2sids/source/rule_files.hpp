// SPDX-License-Identifier: MIT
// rule_files: rule files and snort.conf -> rules in order, with the variables of their place.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "line.hpp"
#include "variables.hpp"

namespace snort2sids
{
// A rule begins at `start` of the line; `action` is one of Snort's own, also if the rule has a
// user-defined one.  May throw Malformed.
struct RuleLine {
    const Line &line;
    size_t start;
    std::string action;
};

class RuleFiles
{
public:
    RuleFiles(Variables &variables, bool takes_commented,
              const std::function<void(const RuleLine &)> &take)
        : variables_(variables), takes_commented_(takes_commented), take_(take)
    {
    }

    // Includes are read where they stand.  Throws std::runtime_error if the file cannot be read.
    void read(const std::string &path);
    void read_text(const std::string &name, const std::string &text);
    // Variables alone; includes are skipped.
    void read_config(const std::string &path);

    struct Problem {
        Place place;
        std::string what;
        uint64_t lines = 1; // that have it; the place is that of the first
    };
    // Reading ends when there are too many different ones.
    const std::vector<Problem> &problems() const { return problems_; }
    bool has_too_many_problems() const { return problems_.size() >= kMostProblems; }
    const std::map<std::string, uint64_t> &skipped() const { return skipped_; } // by what they are

private:
    static constexpr size_t kMostProblems = 1000;

    void read_lines(Lines &lines, const std::string &path);
    void read_line(Lines &lines, const Line &line, const std::string &path);
    void read_directive(Lines &lines, const Line &line, std::string_view word,
                        const std::string &path);
    void read_variable(const Line &line, size_t start);
    void read_rule_type(Lines &lines, const Line &line, size_t start);
    void read_commented(const Line &line);
    void include(const Line &line, size_t start, const std::string &path);
    void take(const Line &line, size_t start, const std::string &action);
    void report(const Line &line, size_t offset, const std::string &what);

    Variables &variables_;
    bool takes_commented_;
    bool is_config_ = false;
    const std::function<void(const RuleLine &)> &take_;
    std::vector<Problem> problems_;
    std::map<std::string, size_t> problem_of_; // by what it is
    uint64_t file_count_ = 0;
    std::map<std::string, uint64_t> skipped_;
    std::map<std::string, std::string> rule_types_; // name -> Snort's own action
    std::vector<std::string> open_;                 // files being read, the outermost first
};
} // namespace snort2sids
