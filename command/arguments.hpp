// SPDX-License-Identifier: MIT
// Arguments: words of a command line -> a command's variables, checked.
//
// The few calls of CLI11 that commands use, without its headers: a compiler takes ten seconds for what they make of one file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI
{
class App;
class Option;
} // namespace CLI

namespace command
{
// One option, while it is described; the CLI::App that it belongs to owns it.
class Option
{
public:
    explicit Option(CLI::Option *option) : option_(option) {}

    Option required();
    Option shows_default();                                      // in --help: what the variable holds now
    Option one_of(std::vector<std::string> words);
    Option within(std::uint32_t least, std::uint32_t most);
    Option takes_sizes();                                        // 64K, 4M, ...: powers of 1024
    Option check(std::string (*complaint)(const std::string &)); // empty: the word is good
    bool is_given() const;                                       // once the command line is parsed

private:
    CLI::Option *option_;
};

// name: "-o,--output", or "trace" for a word without one.  The variable outlives the parsing.
Option add_option(CLI::App &app, const char *name, std::string &value, const char *help);
Option add_option(CLI::App &app, const char *name, std::vector<std::string> &value, const char *help);
Option add_option(CLI::App &app, const char *name, int &value, const char *help);
Option add_option(CLI::App &app, const char *name, std::uint32_t &value, const char *help);
Option add_option(CLI::App &app, const char *name, std::uint64_t &value, const char *help);
Option add_option(CLI::App &app, const char *name, double &value, const char *help);
Option add_option(CLI::App &app, const char *name, std::optional<std::uint32_t> &value, const char *help);
Option add_option(CLI::App &app, const char *name, std::optional<std::uint64_t> &value, const char *help);
void add_flag(CLI::App &app, const char *name, bool &value, const char *help);

void set_footer(CLI::App &app, const char *text);

// Looks at all options together once they are parsed; refuses by refuse().
void check_together(CLI::App &app, std::function<void()> look);
[[noreturn]] void refuse(const char *options, const char *why);
} // namespace command
