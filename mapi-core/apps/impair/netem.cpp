// SPDX-License-Identifier: MIT
// netem: options -> a bridge between the interfaces, which the kernel's netem impairs.
#include "netem.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <initializer_list>

#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/command/signals.h"
#include "common/command/tell.hpp"
#include "ipc/descriptor.hpp"
#include "mapi_gen/interface.hpp"
#include "mapi_gen/packets.hpp"

namespace impair
{
namespace
{
constexpr int kLookMs = 100;
constexpr double kPercent = 100;

struct Done {
    bool is_good = false;
    std::string said; // the last line on standard error
};

std::string read_all(int file)
{
    std::string text;
    char part[512];
    for (ssize_t bytes = 0; (bytes = read(file, part, sizeof(part))) > 0;)
        text.append(part, size_t(bytes));
    return text;
}

std::string last_line(std::string text)
{
    text.erase(text.find_last_not_of(" \n") + 1);
    const size_t begin = text.find_last_of('\n');
    return begin == text.npos ? text : text.substr(begin + 1);
}

Done run(const Command &command)
{
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw mapi_gen::Refusal(fmt::format("pipe: {}", std::strerror(errno)));
    const mapi::ipc::Descriptor reading(ends[0]);
    mapi::ipc::Descriptor writing(ends[1]);
    std::vector<char *> words;
    for (const std::string &word : command)
        words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, writing.number(), STDERR_FILENO);
    pid_t child = 0;
    const int error = posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    writing.reset();
    if (error != 0)
        throw mapi_gen::Refusal(fmt::format("{}: cannot run: {} (Debian: apt install iproute2)",
                                            command[0], std::strerror(error)));
    Done done{.said = last_line(read_all(reading.number()))};
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    done.is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return done;
}

void run_all(const std::vector<Command> &commands)
{
    for (const Command &command : commands) {
        const Done done = run(command);
        if (done.is_good)
            continue;
        const bool is_absent = done.said.find("kind is unknown") != std::string::npos;
        throw mapi_gen::Refusal(fmt::format(
            "{}: {}{}", fmt::join(command, " "), done.said,
            is_absent ? " (this kernel has no netem: modprobe sch_netem, or omit --netem)" : ""));
    }
}

// Of what there is, since the begin may have failed on the way.
void remove(const std::vector<Command> &commands)
{
    for (const Command &command : commands)
        run(command);
}

// tc has no unit shorter than a microsecond, and reads fractions of it.
std::string microseconds(uint64_t time_ns)
{
    constexpr double kMicrosecondNs = 1e3;
    return fmt::format("{:.3f}us", double(time_ns) / kMicrosecondNs);
}

Command netem_words(const Impairment &impairment)
{
    Command words = {"netem"};
    const auto add = [&](std::initializer_list<std::string> more) {
        words.insert(words.end(), more);
    };
    if (impairment.delay_ns > 0)
        add({"delay", microseconds(impairment.delay_ns)});
    if (impairment.jitter_ns > 0)
        add({microseconds(impairment.jitter_ns)});
    if (impairment.loss > 0)
        add({"loss", fmt::format("{:.6f}%", kPercent * impairment.loss)});
    if (impairment.duplicate > 0)
        add({"duplicate", fmt::format("{:.6f}%", kPercent * impairment.duplicate)});
    add({"limit", "100000"});
    return words;
}

void wait_until_over(const Options &options)
{
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    const auto has_passed = [&] {
        const std::chrono::duration<double> passed = Clock::now() - begin;
        return options.seconds > 0 && passed.count() >= options.seconds;
    };
    while (!command_was_interrupted() && !has_passed()) {
        for (const std::string &name : options.interfaces)
            if (if_nametoindex(name.c_str()) == 0)
                throw mapi_gen::Refusal(name + ": the interface went away");
        command_pause(kLookMs);
    }
}
} // namespace

NetemCommands netem_commands(const Options &options, const std::string &bridge)
{
    NetemCommands made;
    made.begin.push_back({"ip", "link", "add", "name", bridge, "type", "bridge"});
    for (size_t i = 0; i < kDirections; ++i) {
        // forward packets leave through the second interface
        const std::string &leaving = options.interfaces[1 - i];
        made.begin.push_back({"ip", "link", "set", "dev", leaving, "master", bridge});
        if (!options.is_impaired[i])
            continue;
        Command command = {"tc", "qdisc", "add", "dev", leaving, "root"};
        const Command words = netem_words(options.impairment);
        command.insert(command.end(), words.begin(), words.end());
        made.begin.push_back(command);
        made.end.push_back({"tc", "qdisc", "del", "dev", leaving, "root"});
    }
    made.begin.push_back({"ip", "link", "set", "dev", bridge, "up"});
    made.end.push_back({"ip", "link", "del", "dev", bridge});
    return made;
}

int run_netem(const Options &options)
{
    for (const std::string &name : options.interfaces)
        mapi_gen::find_interface(name);
    const NetemCommands commands = netem_commands(options, fmt::format("impair{}", getpid()));
    try {
        run_all(commands.begin);
        if (!options.is_quiet)
            command::tell("mapi-impair: {} is a bridge between {} and {}, impaired by netem\n",
                          commands.begin[0][4], options.interfaces[kForward],
                          options.interfaces[kBackward]);
        wait_until_over(options);
    } catch (const mapi_gen::Refusal &) {
        remove(commands.end);
        throw;
    }
    remove(commands.end);
    return kExitDone;
}
} // namespace impair
