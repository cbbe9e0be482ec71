// SPDX-License-Identifier: MIT
// nsdump functions: the functions of a program, and by which ways each can be recorded.
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/functions/choose.hpp"
#include "cli/functions/program_objects.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
struct Options {
    std::vector<std::string> names; // the program, unless pid is given, and patterns
    int pid = 0;
    std::string format = "text";
    std::string output;
};

std::vector<const char *> ways_of(const ElfFunction &function)
{
    std::vector<const char *> ways;
    if (function.has_sled)
        ways.push_back("sled");
    if (function.has_entry)
        ways.push_back("entry");
    ways.push_back("uprobe");
    return ways;
}

std::string text_of(const std::vector<ChosenFunction> &functions)
{
    constexpr size_t kMostWidth = 60;
    size_t width = 8;
    for (const ChosenFunction &one : functions)
        width = std::max(width, std::min(kMostWidth, printable(one.name).size()));
    std::string text =
        fmt::format("{:<{}}  {:<18}  {:>12}  file\n", "function", width, "recorded by", "address");
    for (const ChosenFunction &one : functions) {
        std::string ways;
        for (const char *way : ways_of(*one.function))
            ways += (ways.empty() ? "" : ", ") + std::string(way);
        fmt::format_to(std::back_inserter(text), "{:<{}}  {:<18}  {:>12x}  {}\n",
                       printable(one.name), width, ways, one.function->address,
                       printable(one.object->name));
    }
    return text;
}

std::string json_of(const std::vector<ChosenFunction> &functions)
{
    using Json = nlohmann::ordered_json;
    Json json = {{"schema", "netslice-functions-1"}, {"functions", Json::array()}};
    for (const ChosenFunction &one : functions)
        json["functions"].push_back({{"name", one.name},
                                     {"symbol", one.function->symbol},
                                     {"ways", ways_of(*one.function)},
                                     {"address", one.function->address},
                                     {"offset", one.function->offset},
                                     {"file", one.object->name}});
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int run(const Options &options)
{
    std::vector<std::string> patterns = options.names;
    std::vector<ElfObject> objects;
    if (options.pid != 0) {
        objects = objects_of_process(options.pid);
    } else {
        patterns.erase(patterns.begin());
        objects = objects_of_program(options.names.front());
    }
    for (const std::string &pattern : patterns)
        if (const std::string wrong = is_function_pattern(pattern); !wrong.empty())
            throw command::UsageError(wrong);
    const bool is_all = patterns.empty();
    if (is_all) // of the program itself
        objects.resize(1);
    const std::vector<ChosenFunction> functions =
        choose_functions(objects, is_all ? std::vector<std::string>{"."} : patterns);
    command::Output output(options.output);
    output.text() = options.format == "json" ? json_of(functions) : text_of(functions);
    output.finish();
    return kExitOk;
}

constexpr char kFooter[] =
    R"(REGEX is a POSIX extended regular expression that is found anywhere in a function's name, in
the program and its shared objects; OBJECT:REGEX looks only in files whose name begins with OBJECT.
Without REGEX: all functions of the program's own file.  `record --function REGEX` records them.

  sled, entry   by code in the function: built with clang -fxray-instrument, or with
                -fpatchable-function-entry=5 or more
  uprobe        by traps of the kernel: any function, but slowly

Exit codes:
  0    success
  2    invalid usage
  3    the program cannot be read, or no function matches
  4    the output cannot be written)";

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    const command::Argument names = arguments.add(
        "names", options->names, "program (without --pid), and expressions for its functions");
    const command::Argument pid =
        arguments.add("-p,--pid", options->pid, "the functions of a running process")
            .kind("PID")
            .check(is_positive);
    arguments.add_format(options->format, {"text", "json"});
    add_output(arguments, options->output);
    arguments.footer(kFooter);
    arguments.at_end([names, pid] {
        if (!names.was_given() && !pid.was_given())
            throw command::WrongUse("a program or --pid is required");
    });
    return [options] { return run(*options); };
}
} // namespace

const Command kFunctions = {
    "functions", "Show the functions of a program, and by which ways they can be recorded", add};
} // namespace nsdump
