// SPDX-License-Identifier: MIT
// arguments: command line -> variables.  The only file that includes CLI11.
#include "arguments.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <sstream>
#include <type_traits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "numbers.hpp"
#include "output.hpp"

namespace command
{
namespace
{
constexpr uint64_t kMiB = 1u << 20;

// Prints "--ring BYTES", not "--ring UINT:POSITIVE=4194304 REQUIRED".
class HelpText : public CLI::Formatter
{
public:
    std::string make_option_name(const CLI::Option *option, bool is_positional) const override
    {
        std::string name = CLI::Formatter::make_option_name(option, is_positional);
        if (const size_t brace = name.find('{'); brace != std::string::npos)
            name.erase(brace); // of a flag that sets a variable to false
        return name;
    }
    // Of a command: its line in the list of commands has no full stop.
    std::string make_description(const CLI::App *app) const override
    {
        std::string text = CLI::Formatter::make_description(app);
        if (text.ends_with('\n') && !text.ends_with(".\n"))
            text.insert(text.size() - 1, ".");
        return text;
    }
    std::string make_option_opts(const CLI::Option *option) const override
    {
        if (option->get_type_size() == 0)
            return "";
        const bool has_list = option->get_expected_max() == CLI::detail::expected_max_vector_size;
        if (option->get_positional() && !option->nonpositional())
            return has_list ? " ..." : "";
        return " " + option->get_type_name();
    }
};

// Adds "(note)" to the help text, or to the remark in parentheses at its end.
void add_note(CLI::Option &option, const std::string &note)
{
    std::string text = option.get_description();
    if (text.ends_with(')'))
        text.insert(text.size() - 1, "; " + note);
    else
        text += " (" + note + ")";
    option.description(text);
}

constexpr const char *kNumberCheck = "number";

// A number without limits of its own: any that its variable can hold.
template <class Variable>
Argument add_number(CLI::App &app, const std::string &names, Variable &variable,
                    const std::string &help)
{
    CLI::Option *const option = app.add_option(names, variable, help);
    if constexpr (std::is_arithmetic_v<Variable>)
        option->check(check_number<Variable>, "", kNumberCheck);
    else
        option->check(check_number<typename Variable::value_type>, "", kNumberCheck);
    return Argument(option).kind("N");
}

Argument add_text(CLI::Option *option)
{
    return Argument(option).kind("TEXT");
}

template <class Number> void set_range(CLI::Option &option, Number least, Number most)
{
    option.get_validator(kNumberCheck)->active(false); // would print the limits of the variable
    option.check(
        [least, most](const std::string &text) {
            const auto number = number_of<Number>(text);
            if (!number && !is_whole(text))
                return check_number<Number>(text);
            return number && *number >= least && *number <= most ? ""
                                                                 : out_of_range(text, least, most);
        },
        "");
    add_note(option, fmt::format("{} to {}", least, most));
}

std::string size_of(std::string text)
{
    const std::string given = text;
    try {
        if (CLI::AsSizeValue(false)(text).empty())
            return text;
    } catch (const CLI::ParseError &) { // does not fit the number
    }
    throw CLI::ValidationError(quoted(given) + " is not a size (such as 65536, 64K or 4M)");
}
} // namespace

bool Argument::was_given() const
{
    return option_->count() > 0;
}

std::string Argument::name() const
{
    return option_->get_name();
}

Argument &Argument::required()
{
    option_->required();
    return *this;
}

Argument &Argument::check(const CheckText &check)
{
    option_->check(check, "");
    return *this;
}

Argument &Argument::one_of(const std::vector<std::string> &words)
{
    option_->check(
        [words](const std::string &text) {
            return std::find(words.begin(), words.end(), text) != words.end()
                       ? ""
                       : fmt::format("unknown value {} (available: {})", quoted(text),
                                     fmt::join(words, ", "));
        },
        "");
    return kind(fmt::format("{}", fmt::join(words, "|")));
}

Argument &Argument::range(int least, int most)
{
    set_range(*option_, least, most);
    return *this;
}

Argument &Argument::range(uint64_t least, uint64_t most)
{
    set_range(*option_, least, most);
    return *this;
}

Argument &Argument::sizes()
{
    option_->transform(size_of, "");
    return kind("BYTES");
}

Argument &Argument::powers_of_two(uint64_t least, uint64_t most)
{
    const auto bytes_of = [least, most](const std::string &text) {
        std::string bytes = size_of(text);
        const auto number = number_of<uint64_t>(bytes);
        if (number && std::has_single_bit(*number) && *number >= least && *number <= most)
            return bytes;
        throw CLI::ValidationError(fmt::format("{} is not a power of two from {} to {}",
                                               quoted(text), short_size(least), short_size(most)));
    };
    option_->transform(bytes_of, "");
    return kind("BYTES");
}

Argument &Argument::one_each_time()
{
    option_->allow_extra_args(false);
    return *this;
}

Argument &Argument::show_default()
{
    option_->capture_default_str();
    std::string value = option_->get_default_str();
    const auto bytes = number_of<uint64_t>(value);
    if (option_->get_type_name() == "BYTES" && bytes && *bytes > 0 && *bytes % kMiB == 0)
        value = fmt::format("{}M", *bytes / kMiB);
    add_note(*option_, "default " + value);
    return *this;
}

Argument &Argument::kind(const std::string &name)
{
    option_->type_name(name);
    return *this;
}

Argument ArgumentSet::add(const std::string &names, std::string &variable, const std::string &help)
{
    return add_text(app_->add_option(names, variable, help));
}

Argument ArgumentSet::add(const std::string &names, int &variable, const std::string &help)
{
    return add_number(*app_, names, variable, help);
}

Argument ArgumentSet::add(const std::string &names, uint32_t &variable, const std::string &help)
{
    return add_number(*app_, names, variable, help);
}

Argument ArgumentSet::add(const std::string &names, uint64_t &variable, const std::string &help)
{
    return add_number(*app_, names, variable, help);
}

Argument ArgumentSet::add(const std::string &names, double &variable, const std::string &help)
{
    return add_number(*app_, names, variable, help);
}

Argument ArgumentSet::add(const std::string &names, std::optional<uint32_t> &variable,
                          const std::string &help)
{
    return add_number(*app_, names, variable, help);
}

Argument ArgumentSet::add(const std::string &names, std::optional<uint64_t> &variable,
                          const std::string &help)
{
    return add_number(*app_, names, variable, help);
}

Argument ArgumentSet::add(const std::string &names, std::optional<double> &variable,
                          const std::string &help)
{
    return add_number(*app_, names, variable, help);
}

Argument ArgumentSet::add(const std::string &names, std::vector<std::string> &variable,
                          const std::string &help)
{
    return add_text(app_->add_option(names, variable, help));
}

Argument ArgumentSet::add_flag(const std::string &names, bool &variable, const std::string &help)
{
    return Argument(app_->add_flag(names, variable, help));
}

Argument ArgumentSet::add_format(std::string &variable, const std::vector<std::string> &words,
                                 const std::string &help)
{
    Argument format = add("--format", variable, help).one_of(words).show_default();
    const auto choose_json = [&variable, format](int64_t) {
        if (format.was_given() && variable != "json")
            throw CLI::ValidationError("--json cannot be combined with --format " + variable);
        variable = "json";
    };
    app_->add_flag_function("--json", choose_json, "the same as --format json");
    return format;
}

void ArgumentSet::hint_at_separator(const std::string &remedy)
{
    *separator_remedy_ = remedy;
}

void ArgumentSet::footer(const std::string &text)
{
    app_->footer(text);
}

void ArgumentSet::at_end(const std::function<void()> &run)
{
    app_->final_callback([run] {
        try {
            run();
        } catch (const WrongUse &error) {
            throw CLI::ValidationError(error.what());
        }
    });
}

void refuse(const std::vector<Argument> &arguments, const std::string &why)
{
    for (const Argument &argument : arguments)
        if (argument.was_given())
            throw WrongUse(argument.name() + " " + why);
}

bool ArgumentSet::was_chosen() const
{
    return app_->parsed();
}

void Reply::print() const
{
    if (is_wrong)
        std::fputs(text.c_str(), stderr); // may be closed
    else
        write_whole("-", text);
}

namespace
{
void add_help(CLI::App &app)
{
    app.set_help_flag("-h,--help", "print this help and exit")->disable_flag_override(true);
}
} // namespace

Arguments::Arguments(const std::string &description, const std::string &program)
    : ArgumentSet(nullptr), own_(std::make_unique<CLI::App>(description, program))
{
    app_ = own_.get();
    app_->formatter(std::make_shared<HelpText>());
    app_->option_defaults()->disable_flag_override(true);
    add_help(*app_);
}

Arguments::~Arguments() = default;

void Arguments::version(const std::string &text)
{
    app_->set_version_flag("--version", text, "print the version and exit");
}

ArgumentSet Arguments::add_command(const std::string &name, const std::string &help)
{
    CLI::App *const command = app_->add_subcommand(name, help);
    add_help(*command); // CLI11 adds it before it copies the defaults of options
    commands_.emplace_back(command);
    return commands_.back();
}

void Arguments::require_command()
{
    app_->require_subcommand(1);
}

void Arguments::allow_command()
{
    app_->require_subcommand(0, 1);
    app_->fallthrough();
}

namespace
{
// "nsdump show", as far as the words were understood.
const CLI::App &chosen_of(const CLI::App &app)
{
    const std::vector<CLI::App *> chosen = app.get_subcommands();
    return chosen.empty() ? app : *chosen.front();
}

// What the user typed and no argument takes.
std::string unknown_word(const CLI::App &app, const std::string &word)
{
    const bool is_option = word.size() > 1 && word[0] == '-';
    std::string commands;
    for (const CLI::App *command : app.get_subcommands({}))
        commands += (commands.empty() ? "" : ", ") + command->get_name();
    if (commands.empty() || !app.get_subcommands().empty())
        return (is_option ? "unknown option " : "unexpected argument ") + quoted(word);
    return is_option ? "unknown option " + quoted(word) + " before the command"
                     : "unknown command " + quoted(word) + "; available: " + commands;
}

// An unknown option rather than what the user meant as its value.
std::string first_unknown(const std::vector<std::string> &left)
{
    const auto option = std::find_if(left.begin(), left.end(), [](const std::string &word) {
        return word.size() > 1 && word[0] == '-';
    });
    return option == left.end() ? left.front() : *option;
}

// The name of the positional argument, if the option has one.
std::string positional_name(const CLI::App &app, const std::string &name)
{
    for (const CLI::Option *option : app.get_options())
        if (option->get_positional() && name == option->get_name())
            return option->get_name(true);
    return name;
}

std::string missing_argument(const CLI::App &app, const std::string &text)
{
    const std::string name = text.substr(0, text.find(" is required"));
    if (name == "A subcommand")
        return "a command is required";
    const std::string argument = positional_name(app, name);
    return (argument.starts_with('-') ? argument : "a " + argument) + " is required";
}

// Whether the command has a positional argument, and no "--" before it.
bool lacks_separator(const CLI::App &command, int argc, const char *const *argv)
{
    if (std::find(argv, argv + argc, std::string("--")) != argv + argc)
        return false;
    const std::vector<const CLI::Option *> options = command.get_options();
    return std::any_of(options.begin(), options.end(), [](const CLI::Option *option) {
        return option->get_positional() && option->count() > 0;
    });
}

// CLI11 accepts "--flag=true" and "--flag=", and "--no-flag=false".
void check_flags(const CLI::App &app, int argc, const char *const *argv)
{
    for (int i = 1; i < argc && std::string(argv[i]) != "--"; ++i) {
        const std::string word = argv[i];
        const size_t equals = word.find('=');
        if (!word.starts_with("--") || equals == word.npos)
            continue;
        const CLI::Option *const option = app.get_option_no_throw(word.substr(0, equals));
        if (option && option->get_items_expected_max() == 0 && option->count() > 0)
            throw CLI::ArgumentMismatch::FlagOverride(word.substr(2, equals - 2));
    }
}

std::string wrong_count(const CLI::App &app, const std::string &text)
{
    if (const size_t end = text.find(" was given a disallowed flag override"); end != text.npos)
        return "--" + text.substr(0, end) + " takes no value";
    const std::string name = text.substr(0, text.find(':'));
    return text.find("Most") != text.npos ? positional_name(app, name) + " is given more than once"
                                          : name + " requires a value";
}

std::string what_is_wrong(const CLI::App &app, const CLI::ParseError &error)
{
    std::string text = error.what();
    const bool is_required = dynamic_cast<const CLI::RequiredError *>(&error) != nullptr;
    const CLI::App &chosen = chosen_of(app);
    std::vector<std::string> left = app.remaining(true);
    std::erase(left, "--");
    if (dynamic_cast<const CLI::ExtrasError *>(&error) && !left.empty())
        return unknown_word(app, first_unknown(left));
    if (is_required && !left.empty() && &chosen == &app)
        return unknown_word(app, left.front());
    if (is_required)
        return missing_argument(chosen, text);
    if (dynamic_cast<const CLI::ArgumentMismatch *>(&error))
        return wrong_count(chosen, text);
    return text;
}
} // namespace

std::optional<Reply> Arguments::parse(int argc, const char *const *argv)
{
    try {
        app_->parse(argc, argv);
        check_flags(chosen_of(*app_), argc, argv);
        check_flags(*app_, argc, argv);
        return std::nullopt;
    } catch (const CLI::Success &asked_for) {
        std::ostringstream text, unused;
        app_->exit(asked_for, text, unused);
        return Reply{false, text.str()};
    } catch (const CLI::ParseError &error) {
        const std::string wrong = what_is_wrong(*app_, error);
        const CLI::App &chosen = chosen_of(*app_);
        std::string remedy = "see " + app_->get_name() +
                             (&chosen == app_ ? "" : " " + chosen.get_name()) + " --help";
        if (wrong.starts_with("unknown option ") && lacks_separator(chosen, argc, argv))
            for (const ArgumentSet &command : commands_)
                if (command.was_chosen() && !command.separator_remedy().empty())
                    remedy = command.separator_remedy();
        return Reply{true, fmt::format("{}: {}{}\n", app_->get_name(), wrong,
                                       wrong.ends_with(')') ? "" : " (" + remedy + ")")};
    }
}
} // namespace command
