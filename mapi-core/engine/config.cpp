// SPDX-License-Identifier: MIT
// Configuration: mapi.conf -> settings of devices.
//
// Debian's inih is built without line numbers for its handler, without a sign for a repeated section and with lines of at
// most 200 bytes; each of the three is needed here.
#include "engine/config.hpp"

#include "engine/error.hpp"
#include "engine/old_drivers.hpp"

namespace mapi::engine
{
namespace
{
std::string trim(const std::string &text)
{
    const size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Those but [driver] are of other programs, and of functions, which read theirs themselves.
bool is_known_section(const std::string &name)
{
    return name == "driver" || name == "format" || name == "dag" || name == "ipfixflib";
}

class Parser
{
public:
    Parser(const std::string &name, const Registry &registry) : name_(name), registry_(registry) {}

    void take_line(const std::string &raw)
    {
        ++line_;
        const std::string line = trim(raw);
        if (line.empty() || line[0] == '#' || line[0] == ';')
            return;
        if (line[0] == '[')
            begin_section(line);
        else
            take_key(line);
    }

    std::vector<DeviceSettings> finish()
    {
        end_section();
        return std::move(devices_);
    }

private:
    [[noreturn]] void fail(unsigned line, const std::string &text) const
    {
        throw Error(MAPI_CONFIG_ERROR, name_ + ":" + std::to_string(line) + ": " + text);
    }

    void begin_section(const std::string &line)
    {
        end_section();
        if (line.back() != ']')
            fail(line_, "the section's \"]\" is missing");
        section_ = trim(line.substr(1, line.size() - 2));
        if (!is_known_section(section_))
            fail(line_, "\"" + section_ + "\" is not a section; [driver] is");
        section_line_ = line_;
        current_ = {};
        option_lines_.clear();
        current_.origin = name_ + ":" + std::to_string(line_);
    }

    void take_key(const std::string &line)
    {
        const size_t equals = line.find('=');
        if (equals == std::string::npos)
            fail(line_, "neither a section nor key=value: " + line);
        if (section_ != "driver")
            return; // the top level and other sections speak to other programs
        try {
            current_.set(trim(line.substr(0, equals)), trim(line.substr(equals + 1)));
            option_lines_.resize(current_.options.size(), line_);
        } catch (const Error &error) {
            fail(line_, error.what());
        }
    }

    void end_section()
    {
        if (section_ != "driver")
            return;
        if (current_.name.empty())
            fail(section_line_, "this [driver] has no device=");
        if (current_.path.empty())
            current_.path = current_.name;
        current_.driver = present_driver(current_.driver, current_.path);
        for (const DeviceSettings &other : devices_) {
            if (other.name == current_.name)
                fail(section_line_, "device " + current_.name + " is described already at " + other.origin);
        }
        check_options();
        devices_.push_back(current_);
        section_.clear();
    }

    // A driver that is not known here is told when somebody opens the device: the others can be used.
    void check_options() const
    {
        if (!registry_.has_driver(current_.driver))
            return;
        const mapi_driver &driver = registry_.driver(current_.driver);
        DeviceSettings one = current_;
        for (size_t i = 0; i < current_.options.size(); ++i) {
            one.options = {current_.options[i]};
            try {
                one.option_values(driver);
            } catch (const Error &error) {
                fail(option_lines_[i], error.what());
            }
        }
    }

    const std::string name_;
    const Registry &registry_;
    unsigned line_ = 0;
    unsigned section_line_ = 0;
    std::string section_;
    DeviceSettings current_;
    std::vector<unsigned> option_lines_; // of current_.options
    std::vector<DeviceSettings> devices_;
};
} // namespace

std::vector<DeviceSettings> read_config(std::istream &input, const std::string &name, const Registry &registry)
{
    Parser parser(name, registry);
    for (std::string line; std::getline(input, line);)
        parser.take_line(line);
    return parser.finish();
}

std::string read_section(std::istream &input, const std::string &section)
{
    const std::string wanted = section.empty() ? "" : "[" + section + "]";
    std::string current, lines;
    for (std::string raw; std::getline(input, raw);) {
        const std::string line = trim(raw);
        const size_t equals = line.find('=');
        if (line.empty() || line[0] == '#' || line[0] == ';')
            continue;
        if (line[0] == '[')
            current = line;
        else if (current == wanted && equals != std::string::npos)
            lines += trim(line.substr(0, equals)) + "=" + trim(line.substr(equals + 1)) + "\n";
    }
    return lines;
}
} // namespace mapi::engine
