// SPDX-License-Identifier: MIT
// nsdump snapshot: the contents of a running flight recorder -> trace file; it keeps running.
#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nsprobe/nsmod.h>

#include "cli/commands.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/tell.hpp"
#include "common/file_error/file_error.h"
#include "decode/error.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
struct Options {
    bool is_list = false;
    uint32_t session = 0;
    uint32_t pid = 0;
    std::string trace = "snapshot.nsl";
    std::string output; // of the list
    bool is_quiet = false;
};

class Descriptor
{
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() { close(fd_); }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    int get() const { return fd_; }

private:
    int fd_;
};

std::vector<nslice_session_entry> sessions()
{
    std::vector<nslice_session_entry> entries;
    uint32_t count = 64;
    do {
        entries.resize(count); // new sessions may appear between two calls
        if (nsp_nsmod_sessions(entries.data(), uint32_t(entries.size()), &count) != 0)
            throw TraceError(nsp_last_error());
    } while (count > entries.size());
    entries.resize(count);
    return entries;
}

std::string state_of(const nslice_session_entry &entry)
{
    if (entry.flags & NSLICE_ENTRY_READ)
        return "has a reader";
    if (entry.flags & NSLICE_ENTRY_OVER)
        return "ended, waiting for a reader";
    return entry.flags & NSLICE_SESSION_DRAINED ? "drained by the module"
                                                : "drained by its process";
}

std::string text_of(const std::vector<nslice_session_entry> &entries)
{
    std::string text =
        fmt::format("{:>8} {:>8} {:>8} {:>12} {:>10}  {:<16} {:<16} {}\n", "session", "process",
                    "user", "ring bytes", "records", "program", "flight recorder", "state");
    for (const nslice_session_entry &entry : entries) {
        const std::string command(entry.command, strnlen(entry.command, sizeof entry.command));
        fmt::format_to(std::back_inserter(text),
                       "{:>8} {:>8} {:>8} {:>12} {:>10}  {:<16} {:<16} {}\n", entry.id, entry.pid,
                       entry.uid, entry.ring_bytes, entry.records, printable(command),
                       entry.flags & NSLICE_ENTRY_OVERWRITE ? "yes" : "no", state_of(entry));
    }
    return text;
}

int list(const Options &options)
{
    command::Output output(options.output);
    output.text() = text_of(sessions());
    output.finish();
    return kExitOk;
}

// The requested session; without a request, the only flight recorder.
uint32_t choose(const Options &options)
{
    if (options.session != 0)
        return options.session;
    std::vector<nslice_session_entry> fit;
    for (const nslice_session_entry &entry : sessions())
        if (entry.flags & NSLICE_ENTRY_OVERWRITE && (options.pid == 0 || entry.pid == options.pid))
            fit.push_back(entry);
    if (fit.size() == 1)
        return fit.front().id;
    const std::string whose = options.pid != 0 ? fmt::format(" of process {}", options.pid) : "";
    throw command::UsageError(
        fit.empty()
            ? fmt::format("snapshot: found no flight recorder{} (start a program under "
                          "NETSLICE=\"recorder=nsmod full=overwrite\"; `nsdump snapshot --list` "
                          "lists the sessions)",
                          whose)
            : fmt::format("snapshot: found {} flight recorders{} (choose one of `nsdump snapshot "
                          "--list` with --session)",
                          fit.size(), whose));
}

int take(const Options &options)
{
    const uint32_t session = choose(options);
    const int opened = nsp_nsmod_read_session(session, NSLICE_READER_SNAPSHOT);
    if (opened < 0)
        throw TraceError(nsp_last_error());
    const Descriptor reader(opened);
    command::Output output(options.trace);
    std::vector<char> piece(1 << 18);
    uint64_t bytes = 0;
    for (;;) {
        const ssize_t got = read(reader.get(), piece.data(), piece.size());
        if (got == 0)
            break;
        if (got < 0 && errno == EINTR && command_was_interrupted())
            throw command::Interrupted();
        if (got < 0 && errno != EINTR)
            throw TraceError(
                fmt::format("session {}: cannot read: {}", session, nslice_read_error(errno)));
        if (got < 0)
            continue;
        bytes += uint64_t(got);
        output.text().append(piece.data(), size_t(got));
        output.flush_when_full();
    }
    output.finish();
    if (!options.is_quiet)
        command::tell("nsdump: {}: session {}, {:.1f} MB\n", options.trace, session,
                      double(bytes) / 1e6);
    return kExitOk;
}

constexpr char kFooter[] =
    R"(A flight recorder is a program under NETSLICE="recorder=nsmod full=overwrite", with the
module nsmod loaded: its rings keep the newest records. A snapshot is a complete trace of their
contents; the program keeps running and loses no records.

Exit codes:
  0    success
  2    invalid usage; no flight recorder, or more than one
  3    no module, permission denied, or another user's session
  4    the trace cannot be written
  130  interrupted)";

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    arguments.add_flag("--list", options->is_list, "list the module's sessions that you may read");
    const command::Argument session =
        arguments
            .add("--session", options->session, "session number; default: the only flight recorder")
            .check(is_positive);
    const command::Argument pid =
        arguments.add("-p,--pid", options->pid, "the flight recorder of this process")
            .kind("PID")
            .check(is_positive);
    const command::Argument trace = add_trace_output(arguments, options->trace);
    const command::Argument output =
        add_output(arguments, options->output, "with --list: file to print the list to");
    add_quiet(arguments, options->is_quiet);
    arguments.footer(kFooter);
    arguments.at_end([options, session, pid, trace, output] {
        if (options->is_list)
            command::refuse({session, pid, trace}, "cannot be combined with --list");
        else
            command::refuse({output}, "requires --list");
        if (session.was_given())
            command::refuse({pid}, "cannot be combined with --session");
    });
    return [options] { return options->is_list ? list(*options) : take(*options); };
}
} // namespace

const Command kSnapshot = {"snapshot", "Write the contents of a running flight recorder as a trace",
                           add};
} // namespace nsdump
