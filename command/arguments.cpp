// SPDX-License-Identifier: MIT
// Arguments: words of a command line -> a command's variables, by CLI11.
#include "command/arguments.hpp"

#include <utility>

#include <CLI/CLI.hpp>

namespace command
{
Option Option::required()
{
    option_->required();
    return *this;
}

Option Option::shows_default()
{
    option_->capture_default_str();
    return *this;
}

Option Option::one_of(std::vector<std::string> words)
{
    option_->check(CLI::IsMember(std::move(words)));
    return *this;
}

Option Option::within(std::uint32_t least, std::uint32_t most)
{
    option_->check(CLI::Range(least, most));
    return *this;
}

Option Option::takes_sizes()
{
    option_->transform(CLI::AsSizeValue(false));
    return *this;
}

Option Option::check(std::string (*complaint)(const std::string &))
{
    option_->check(complaint);
    return *this;
}

bool Option::is_given() const
{
    return option_->count() > 0;
}

Option add_option(CLI::App &app, const char *name, std::string &value, const char *help)
{
    return Option(app.add_option(name, value, help));
}

Option add_option(CLI::App &app, const char *name, std::vector<std::string> &value, const char *help)
{
    return Option(app.add_option(name, value, help));
}

Option add_option(CLI::App &app, const char *name, int &value, const char *help)
{
    return Option(app.add_option(name, value, help));
}

Option add_option(CLI::App &app, const char *name, std::uint32_t &value, const char *help)
{
    return Option(app.add_option(name, value, help));
}

Option add_option(CLI::App &app, const char *name, std::uint64_t &value, const char *help)
{
    return Option(app.add_option(name, value, help));
}

Option add_option(CLI::App &app, const char *name, double &value, const char *help)
{
    return Option(app.add_option(name, value, help));
}

Option add_option(CLI::App &app, const char *name, std::optional<std::uint32_t> &value, const char *help)
{
    return Option(app.add_option(name, value, help));
}

Option add_option(CLI::App &app, const char *name, std::optional<std::uint64_t> &value, const char *help)
{
    return Option(app.add_option(name, value, help));
}

void add_flag(CLI::App &app, const char *name, bool &value, const char *help)
{
    app.add_flag(name, value, help);
}

void set_footer(CLI::App &app, const char *text)
{
    app.footer(text);
}

void check_together(CLI::App &app, std::function<void()> look)
{
    app.final_callback(std::move(look));
}

void refuse(const char *options, const char *why)
{
    throw CLI::ValidationError(options, why);
}
} // namespace command
