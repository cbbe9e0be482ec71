// SPDX-License-Identifier: MIT
// arguments: command line -> variables.  The only file that includes CLI11.
#include "arguments.hpp"

#include <cstdio>
#include <sstream>

#include <CLI/CLI.hpp>

#include "output.hpp"

namespace command
{
bool Argument::was_given() const
{
    return option_->count() > 0;
}

Argument &Argument::required()
{
    option_->required();
    return *this;
}

Argument &Argument::check(const CheckText &check, const std::string &kind)
{
    option_->check(check, kind);
    return *this;
}

Argument &Argument::one_of(const std::vector<std::string> &words)
{
    option_->check(CLI::IsMember(words));
    return *this;
}

Argument &Argument::range(int least, int most)
{
    option_->check(CLI::Range(least, most));
    return *this;
}

Argument &Argument::range(std::uint64_t least, std::uint64_t most)
{
    option_->check(CLI::Range(least, most));
    return *this;
}

Argument &Argument::sizes()
{
    option_->transform(CLI::AsSizeValue(false));
    return *this;
}

Argument &Argument::one_each_time()
{
    option_->allow_extra_args(false);
    return *this;
}

Argument &Argument::show_default()
{
    option_->capture_default_str();
    return *this;
}

Argument &Argument::kind(const std::string &name)
{
    option_->type_name(name);
    return *this;
}

Argument &Argument::shown_as(const std::string &text)
{
    option_->option_text(text);
    return *this;
}

Argument ArgumentSet::add(const std::string &names, std::string &variable, const std::string &help)
{
    return Argument(app_->add_option(names, variable, help));
}

Argument ArgumentSet::add(const std::string &names, int &variable, const std::string &help)
{
    return Argument(app_->add_option(names, variable, help));
}

Argument ArgumentSet::add(const std::string &names, std::uint32_t &variable,
                          const std::string &help)
{
    return Argument(app_->add_option(names, variable, help));
}

Argument ArgumentSet::add(const std::string &names, std::uint64_t &variable,
                          const std::string &help)
{
    return Argument(app_->add_option(names, variable, help));
}

Argument ArgumentSet::add(const std::string &names, double &variable, const std::string &help)
{
    return Argument(app_->add_option(names, variable, help));
}

Argument ArgumentSet::add(const std::string &names, std::optional<std::uint32_t> &variable,
                          const std::string &help)
{
    return Argument(app_->add_option(names, variable, help));
}

Argument ArgumentSet::add(const std::string &names, std::optional<std::uint64_t> &variable,
                          const std::string &help)
{
    return Argument(app_->add_option(names, variable, help));
}

Argument ArgumentSet::add(const std::string &names, std::vector<std::string> &variable,
                          const std::string &help)
{
    return Argument(app_->add_option(names, variable, help));
}

Argument ArgumentSet::add_flag(const std::string &names, bool &variable, const std::string &help)
{
    return Argument(app_->add_flag(names, variable, help));
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

Arguments::Arguments(const std::string &description, const std::string &program)
    : ArgumentSet(nullptr), own_(std::make_unique<CLI::App>(description, program))
{
    app_ = own_.get();
}

Arguments::~Arguments() = default;

void Arguments::version(const std::string &names, const std::string &text)
{
    app_->set_version_flag(names, text);
}

ArgumentSet Arguments::add_command(const std::string &name, const std::string &help)
{
    return ArgumentSet(app_->add_subcommand(name, help));
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

std::optional<Reply> Arguments::parse(int argc, const char *const *argv)
{
    try {
        app_->parse(argc, argv);
        return std::nullopt;
    } catch (const CLI::ParseError &error) {
        std::ostringstream asked_for, wrong;
        Reply reply;
        reply.is_wrong = app_->exit(error, asked_for, wrong) != 0;
        reply.text = asked_for.str() + wrong.str();
        const std::vector<std::string> left = app_->remaining();
        if (error.get_name() == "RequiredError" && !left.empty() && app_->get_subcommands().empty())
            reply.unknown = left.front();
        return reply;
    }
}
} // namespace command
