// SPDX-License-Identifier: MIT
// arguments: command line -> variables or an error message.  Wraps CLI11, which is slow to compile.
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
} // namespace CLI

namespace command
{
// Thrown by the callback at the end of parsing: arguments that cannot be combined.
class WrongUse : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// Returns an empty string if the text is valid, else what is wrong with it.
using CheckText = std::function<std::string(const std::string &)>;

// A check for names, paths and lists.
inline std::string is_given(const std::string &text)
{
    return text.empty() ? "is empty (give a value or omit the option)" : "";
}

// An option, flag or positional argument; valid as long as its Arguments.
class Argument
{
public:
    explicit Argument(CLI::Option *option) : option_(option) {}

    bool was_given() const;
    std::string name() const; // "--output", or that of a positional argument
    Argument &required();
    Argument &check(const CheckText &check);
    Argument &one_of(const std::vector<std::string> &words);
    Argument &range(int least, int most);
    Argument &range(uint64_t least, uint64_t most);
    Argument &sizes();                                      // 64KiB, 4M: multiples of 1024
    Argument &powers_of_two(uint64_t least, uint64_t most); // sizes, too
    Argument &one_each_time();               // for a vector: only one value after each option
    Argument &show_default();                // in --help
    Argument &kind(const std::string &name); // in --help, instead of TEXT, N or BYTES

private:
    CLI::Option *option_;
};

// Arguments of a program or of one of its commands.
class ArgumentSet
{
public:
    explicit ArgumentSet(CLI::App *app) : app_(app) {}

    // `names` is like "-o,--output", or "trace" for a positional argument.  Without the argument
    // the variable is unchanged.
    Argument add(const std::string &names, std::string &variable, const std::string &help);
    Argument add(const std::string &names, int &variable, const std::string &help);
    Argument add(const std::string &names, uint32_t &variable, const std::string &help);
    Argument add(const std::string &names, uint64_t &variable, const std::string &help);
    Argument add(const std::string &names, double &variable, const std::string &help);
    Argument add(const std::string &names, std::optional<uint32_t> &variable,
                 const std::string &help);
    Argument add(const std::string &names, std::optional<uint64_t> &variable,
                 const std::string &help);
    Argument add(const std::string &names, std::optional<double> &variable,
                 const std::string &help);
    Argument add(const std::string &names, std::vector<std::string> &variable,
                 const std::string &help);
    // "!--no-colour" sets the variable to false.
    Argument add_flag(const std::string &names, bool &variable, const std::string &help);
    // --format with these words, and --json as a short form of --format json.
    Argument add_format(std::string &variable, const std::vector<std::string> &words,
                        const std::string &help = "format of the output");

    void footer(const std::string &text);
    // For a command that runs a program: the remedy for an unknown option without "--".
    void hint_at_separator(const std::string &remedy);
    const std::string &separator_remedy() const { return *separator_remedy_; }
    // `run` is called after parsing, for a command only if it was chosen; it may throw WrongUse.
    void at_end(const std::function<void()> &run);
    bool was_chosen() const;

protected:
    CLI::App *app_;

private:
    std::shared_ptr<std::string> separator_remedy_ = std::make_shared<std::string>();
};

// For at_end(): throws WrongUse for the first argument that was given; `why` is what follows its
// name, such as "requires --kernel".
void refuse(const std::vector<Argument> &arguments, const std::string &why);

// Text to print instead of running the program.
struct Reply {
    bool is_wrong = false; // otherwise help or the version was requested
    std::string text;      // of an error: "program: what is wrong (remedy)"

    // Errors go to standard error, other text to standard output; throws OutputError.
    void print() const;
};

class Arguments : public ArgumentSet
{
public:
    Arguments(const std::string &description, const std::string &program);
    ~Arguments();
    Arguments(const Arguments &) = delete;
    Arguments &operator=(const Arguments &) = delete;

    void version(const std::string &text);
    ArgumentSet add_command(const std::string &name, const std::string &help);
    void require_command(); // exactly one
    void allow_command();   // at most one; program options may follow it; call before add_command()

    std::optional<Reply> parse(int argc, const char *const *argv);

private:
    std::unique_ptr<CLI::App> own_;
    std::vector<ArgumentSet> commands_;
};
} // namespace command
