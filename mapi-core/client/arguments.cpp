// SPDX-License-Identifier: MIT
// Arguments: given arguments and the function's description -> owned arguments.
#include "client/arguments.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_error/file_error.h"
#include "engine/error.hpp"
#include "functions/output/file_rotation.hpp"

namespace mapi::client
{
namespace
{
int argument_error(int position)
{
    constexpr int kNumbers[] = {MFUNCT_INVALID_ARGUMENT_1, MFUNCT_INVALID_ARGUMENT_2,
                                MFUNCT_INVALID_ARGUMENT_3, MFUNCT_INVALID_ARGUMENT_4,
                                MFUNCT_INVALID_ARGUMENT_5, MFUNCT_INVALID_ARGUMENT_6};
    return position <= 6 ? kNumbers[position - 1] : MFUNCT_INVALID_ARGUMENT;
}

[[noreturn]] void refuse(const std::string &name, int position, const std::string &text)
{
    throw Error(argument_error(position), name + ": argument " + std::to_string(position) + text);
}

std::string flow_error(int fd, const Error &error)
{
    return (error.number() == MAPI_INVALID_FLOW ? "" : "flow " + std::to_string(fd) + " ") +
           error.what();
}

// 'f' is a function of the flow that the preceding 'r' names.  Both are treated as one argument,
// with the number of the flow's.
void find_function(const std::string &name, engine::Arguments &arguments, size_t i,
                   const FindTarget &find_target)
{
    const int fd = int(arguments[i - 1].number);
    try {
        arguments[i].targets = {find_target(fd, int(arguments[i].number), false)};
    } catch (const Error &error) {
        refuse(name, int(i), ": " + flow_error(fd, error));
    }
}

// "FID@FD,FID@FD"
void find_functions(const std::string &name, engine::Argument &argument, int position,
                    const FindTarget &find_target)
{
    const char *at = argument.text.data(), *const end = at + argument.text.size();
    do {
        int fid = 0, fd = 0;
        const auto function = std::from_chars(at, end, fid);
        const bool has_flow =
            function.ec == std::errc() && function.ptr != end && *function.ptr == '@';
        const auto flow = has_flow ? std::from_chars(function.ptr + 1, end, fd) : function;
        if (!has_flow || flow.ec != std::errc() ||
            (flow.ptr != end && (*flow.ptr != ',' || flow.ptr + 1 == end)))
            refuse(name, position,
                   ": \"" + argument.text +
                       "\" is not a list of functions (FUNCTION@FLOW,FUNCTION@FLOW)");
        try {
            argument.targets.push_back(find_target(fd, fid, true));
        } catch (const Error &error) {
            refuse(name, position, ": " + flow_error(fd, error));
        }
        at = flow.ptr == end ? end : flow.ptr + 1;
    } while (at != end);
    argument.number = int64_t(argument.targets.size());
}

void find_flows(const std::string &name, engine::Argument &argument, int position,
                const FindFlow &find_flow)
{
    const std::vector<int> flows = engine::read_flow_list(argument.text);
    if (flows.empty())
        refuse(name, position, ": \"" + argument.text + "\" is not a list of flows (FLOW,FLOW)");
    for (const int fd : flows) {
        try {
            argument.flows.push_back(find_flow(fd));
        } catch (const Error &error) {
            refuse(name, position, ": " + flow_error(fd, error));
        }
    }
    argument.number = int64_t(argument.flows.size());
}

// A pipe is reopened, so that O_NONBLOCK applies to this process only.  If standard output already
// has content, it is appended to.
int open_standard_output()
{
    if (lseek(STDOUT_FILENO, 0, SEEK_CUR) > 0)
        fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_APPEND);
    struct stat status = {};
    const bool is_pipe = fstat(STDOUT_FILENO, &status) == 0 && S_ISFIFO(status.st_mode);
    const int descriptor =
        is_pipe ? open("/proc/self/fd/1", O_WRONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    return descriptor >= 0 ? descriptor : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
}

// "-": standard output.  place: position of the argument, for messages.
std::shared_ptr<engine::OwnedFile> open_file(const std::string &place, const std::string &path)
{
    constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK;
    const std::string where = place + path + ": ";
    int descriptor =
        path == "-" ? open_standard_output() : open(path.c_str(), kFlags | O_EXCL, 0666);
    const bool is_new = descriptor >= 0 && path != "-";
    if (descriptor < 0 && path != "-")
        descriptor = open(path.c_str(), kFlags, 0666);
    if (descriptor < 0)
        throw Error(MAPI_ERROR_FILE, where + nslice_write_error(errno));
    auto file = std::make_shared<engine::OwnedFile>(descriptor, is_new ? path : "");
    // Drivers also hold a lock on the files that they read.
    struct stat status = {};
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        flock(descriptor, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        throw Error(
            MAPI_ERROR_FILE,
            where +
                "already read by a device or written by another function (give each its own file)");
    return file;
}

std::string place_of(const std::string &name, int position)
{
    return name + ": argument " + std::to_string(position) + ": ";
}

// rotation: the argument with the rotation, or null.
void open_files(const std::string &name, engine::Argument &argument, int position,
                engine::Argument *rotation)
{
    std::string path = argument.text;
    if (rotation) {
        const auto parsed = functions::parse_file_rotation(rotation->text);
        if (!parsed)
            refuse(name, position + 2,
                   std::string(": \"") + rotation->text + "\" is not a rotation (" +
                       functions::kFileRotationForm + ")");
        if (path == "-")
            refuse(name, position + 2, ": standard output cannot be rotated");
        for (unsigned i = 1; i < parsed->files; ++i)
            rotation->add_file(open_file(place_of(name, position), parsed->name(argument.text, i)));
        path = parsed->name(argument.text, 0);
    }
    argument.file = open_file(place_of(name, position), path);
    argument.number = argument.file->descriptor();
}

// "host:port"; a file with such a name is given as "./host:port".
bool is_network_address(const std::string &text)
{
    const size_t colon = text.rfind(':');
    return colon != std::string::npos && colon > 0 && colon + 1 < text.size() &&
           text.find('/') == std::string::npos &&
           text.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

void open_output(const std::string &name, engine::Argument &argument, int position)
{
    argument.number = -1;
    if (argument.text != "SHMEM" && !is_network_address(argument.text))
        open_files(name, argument, position, nullptr);
}

// Null if no rotation was given.
engine::Argument *rotation_behind(engine::Arguments &arguments, size_t i)
{
    const auto found = std::find_if(
        arguments.begin() + ptrdiff_t(i), arguments.end(),
        [](const engine::Argument &one) { return one.kind == MAPI_ARGUMENT_ROTATION; });
    return found == arguments.end() ? nullptr : &*found;
}

// Looks up what arguments name, once all of them are there.
void look_up(const std::string &name, engine::Arguments &arguments, const Finders &find)
{
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].kind == MAPI_ARGUMENT_FUNCTION)
            find_function(name, arguments, i, find.target);
        else if (arguments[i].kind == MAPI_ARGUMENT_FUNCTIONS)
            find_functions(name, arguments[i], int(i + 1), find.target);
        else if (arguments[i].kind == MAPI_ARGUMENT_FLOWS)
            find_flows(name, arguments[i], int(i + 1), find.flow);
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].kind == MAPI_ARGUMENT_FILE)
            open_files(name, arguments[i], int(i + 1), rotation_behind(arguments, i));
        else if (arguments[i].kind == MAPI_ARGUMENT_OUTPUT)
            open_output(name, arguments[i], int(i + 1));
    }
}

// The process that opens the path may have another working directory.
std::string whole_path(const std::string &path)
{
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(path, error);
    return path.empty() || error ? path : whole.string();
}

engine::Argument take(const std::string &name, GivenArguments &given, char kind, int position)
{
    try {
        engine::Argument argument = given.take(kind);
        if (kind == MAPI_ARGUMENT_PATH)
            argument.text = whole_path(argument.text);
        return argument;
    } catch (const WrongArgument &wrong) {
        if (kind == MAPI_ARGUMENT_FILE && wrong.is_null)
            throw Error(MAPI_ERROR_FILE,
                        name + ": argument " + std::to_string(position) + wrong.text);
        refuse(name, position, wrong.text);
    }
}

int count_arguments(std::string_view letters)
{
    return int(std::count_if(letters.begin(), letters.end(), [](char letter) {
        return letter != '?' && letter != MAPI_ARGUMENT_USER;
    }));
}
} // namespace

engine::Arguments read_arguments(const FunctionDescription &function, GivenArguments &given,
                                 const Finders &find)
{
    const std::string_view description = function.args;
    const int most = count_arguments(description);
    const std::string &name = function.name;
    const int count = given.count() < 0
                          ? count_arguments(description.substr(0, description.find("??")))
                          : given.count();
    if (count > most)
        throw Error(argument_error(most + 1), name + ": takes " + std::to_string(most) +
                                                  (most == 1 ? " argument" : " arguments") +
                                                  ", not " + std::to_string(count));
    engine::Arguments arguments;
    bool optional = false;
    int position = 0;
    for (const char letter : description) {
        if (letter == '?') {
            optional = true;
        } else if (letter == MAPI_ARGUMENT_USER) { // not given by the caller
            arguments.push_back({letter, geteuid(), {}, {}});
        } else if (++position <= count) {
            arguments.push_back(take(name, given, letter, position));
        } else if (optional) {
            arguments.emplace_back();
        } else {
            refuse(name, position, std::string(", ") + kind_name(letter) + ", is missing");
        }
    }
    look_up(name, arguments, find);
    return arguments;
}
} // namespace mapi::client
