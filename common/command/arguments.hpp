// SPDX-License-Identifier: MIT
// arguments: command line -> variables, or words for whoever typed it.  The one face of CLI11, which takes seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI
{
class App;
class Option;
}

namespace command
{
// From what runs at the end of parsing: arguments that do not go together.
class WrongUse : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// Empty when the text is right, else what is wrong with it.
using CheckText = std::function<std::string(const std::string &)>;

// An option, a flag or an argument that has a place; lives as long as its Arguments.
class Argument
{
public:
    explicit Argument(CLI::Option *option) : option_(option) {}

    bool was_given() const;
    Argument &required();
    Argument &check(const CheckText &check, const std::string &kind = ""); // `kind` is shown by --help
    Argument &one_of(const std::vector<std::string> &words);
    Argument &range(int least, int most);
    Argument &range(std::uint64_t least, std::uint64_t most);
    Argument &sizes();                        // 64KiB, 4M: of 1024
    Argument &one_each_time();                // of a vector: what follows the value is another argument
    Argument &show_default();                 // in --help
    Argument &kind(const std::string &name);  // in --help, in place of TEXT or UINT
    Argument &shown_as(const std::string &text); // in --help, in place of all that follows the name

private:
    CLI::Option *option_;
};

// Arguments of a program, or of one of its commands.
class ArgumentSet
{
public:
    explicit ArgumentSet(CLI::App *app) : app_(app) {}

    // `names` as "-o,--output", or "trace" for an argument that has a place.  The variable keeps its value when none is given.
    Argument add(const std::string &names, std::string &variable, const std::string &help);
    Argument add(const std::string &names, int &variable, const std::string &help);
    Argument add(const std::string &names, std::uint32_t &variable, const std::string &help);
    Argument add(const std::string &names, std::uint64_t &variable, const std::string &help);
    Argument add(const std::string &names, double &variable, const std::string &help);
    Argument add(const std::string &names, std::optional<std::uint32_t> &variable, const std::string &help);
    Argument add(const std::string &names, std::optional<std::uint64_t> &variable, const std::string &help);
    Argument add(const std::string &names, std::vector<std::string> &variable, const std::string &help);
    // "!--no-colour" makes the variable false.
    Argument add_flag(const std::string &names, bool &variable, const std::string &help);

    void footer(const std::string &text);
    void at_end(const std::function<void()> &run); // when all is parsed and, of a command, it was chosen; may throw WrongUse
    bool was_chosen() const;

protected:
    CLI::App *app_;
};

// What is to be printed instead of work.
struct Reply {
    bool is_wrong = false; // else help or the version was asked for
    std::string text;
    std::optional<std::string> unknown; // the word that stands where a command is needed

    // What is wrong to standard error, the rest to standard output; throws OutputError.
    void print() const;
};

class Arguments : public ArgumentSet
{
public:
    explicit Arguments(const std::string &description, const std::string &program = "");
    ~Arguments();
    Arguments(const Arguments &) = delete;
    Arguments &operator=(const Arguments &) = delete;

    void version(const std::string &names, const std::string &text);
    ArgumentSet add_command(const std::string &name, const std::string &help);
    void require_command(); // exactly one
    void allow_command();   // one at most; the program's own options may follow it; before add_command()

    std::optional<Reply> parse(int argc, const char *const *argv);

private:
    std::unique_ptr<CLI::App> own_;
};
} // namespace command
