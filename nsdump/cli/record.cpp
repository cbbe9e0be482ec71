// SPDX-License-Identifier: MIT
// nsdump record: a program started here, or a running one -> trace file.
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nsprobe/recorder.h>

#include "cli/child.hpp"
#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
constexpr int kPollMilliseconds = 1;
constexpr double kInterruptGraceSeconds = 1;

struct Options {
    std::string output = "trace.nsl";
    std::string counters;
    std::string source = "auto";
    std::string clock = "fast";
    std::string full = "discard";
    std::string kind = "auto";
    std::uint64_t ring_bytes = 4u << 20;
    std::uint32_t step_every = 1;
    bool no_calibration = false;
    int pid = 0;
    double seconds = 0;
    std::vector<std::string> program;
};

struct CloseRecorder {
    void operator()(nsp_recorder *recorder) const { nsp_recorder_close(recorder, NSLICE_END_INTERRUPTED, nullptr); }
};
using Recorder = std::unique_ptr<nsp_recorder, CloseRecorder>;

[[noreturn]] void fail()
{
    throw TraceError(nsp_last_error());
}

template <class Enum> Enum choose(const std::string &word, std::initializer_list<std::pair<const char *, Enum>> choices)
{
    for (const auto &[name, value] : choices)
        if (word == name)
            return value;
    return Enum{};
}

Recorder open_recorder(const Options &options)
{
    nsp_session_config config{};
    config.struct_size = sizeof(config);
    config.output = options.output.c_str();
    config.counters = options.counters.c_str();
    config.source = choose<nsp_counter_source>(options.source, {{"auto", NSP_SOURCE_AUTO},
                                                                {"rdpmc", NSP_SOURCE_RDPMC},
                                                                {"perf-read", NSP_SOURCE_PERF_READ},
                                                                {"step", NSP_SOURCE_STEP},
                                                                {"none", NSP_SOURCE_NONE}});
    config.clock = choose<nsp_clock_mode>(options.clock, {{"ordered", NSP_CLOCK_ORDERED}});
    config.full = choose<nslice_ring_full>(options.full, {{"overwrite", NSLICE_FULL_OVERWRITE}});
    config.ring_kind = choose<std::uint32_t>(options.kind, {{"rseq", NSLICE_RING_RSEQ}, {"atomic", NSLICE_RING_ATOMIC}});
    config.ring_bytes = options.ring_bytes;
    config.step_every = options.step_every;
    config.no_calibration = options.no_calibration;
    nsp_recorder *recorder = nullptr;
    if (nsp_recorder_open(&config, &recorder) != 0)
        fail();
    return Recorder(recorder);
}

// One line on a terminal, rewritten; nothing elsewhere.
class RecordProgress
{
public:
    RecordProgress() : is_terminal_(isatty(STDERR_FILENO) == 1) {}
    ~RecordProgress()
    {
        if (is_shown_)
            fmt::print(stderr, "\r\033[K");
    }
    void show(const nsp_recorder *recorder, double elapsed_s)
    {
        if (!is_terminal_ || elapsed_s < next_s_)
            return;
        next_s_ = elapsed_s + 0.2;
        nsp_recorder_status status;
        nsp_recorder_status_read(recorder, &status);
        std::uint64_t lost = 0;
        for (const std::uint64_t count : status.counts.lost)
            lost += count;
        fmt::print(stderr, "\r\033[Krecording {:.1f} s: {} records, {:.1f} MB, {} lost{}", elapsed_s,
                   status.counts.drained, static_cast<double>(status.counts.file_bytes) / 1e6, lost,
                   status.joined == 0 ? ", no process takes part yet" : "");
        is_shown_ = true;
    }

private:
    bool is_terminal_;
    bool is_shown_ = false;
    double next_s_ = 0;
};

enum class Ending { kProgramEnded, kInterrupted, kTimeOver, kWriteError };

// Drains until the program ends, the time is over, or somebody stops us.
Ending drain(nsp_recorder *recorder, const Options &options, Child *child)
{
    const auto begin = std::chrono::steady_clock::now();
    RecordProgress progress;
    double interrupted_s = 0; // when the interrupt was seen first
    for (;;) {
        const bool has_ended = child ? child->poll().has_value() : kill(options.pid, 0) != 0 && errno == ESRCH;
        const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (was_interrupted() && interrupted_s == 0)
            interrupted_s = elapsed_s;
        const bool has_waited = elapsed_s > interrupted_s + kInterruptGraceSeconds || !child;
        std::uint64_t taken_bytes = 0;
        if (options.full == "overwrite")
            nsp_recorder_watch(recorder);
        else
            taken_bytes = nsp_recorder_pass(recorder);
        progress.show(recorder, elapsed_s);
        if (nsp_recorder_error(recorder) != 0)
            return Ending::kWriteError;
        if (has_ended)
            return was_interrupted() ? Ending::kInterrupted : Ending::kProgramEnded;
        if (was_interrupted() && has_waited)
            return Ending::kInterrupted;
        if (options.seconds > 0 && elapsed_s >= options.seconds)
            return Ending::kTimeOver;
        if (taken_bytes < options.ring_bytes / 8)
            pause_for(kPollMilliseconds);
    }
}

void tell_losses(const nsp_session_counts &counts)
{
    static constexpr const char *kCauses[NSLICE_LOST_CAUSES] = {
        "ring full (a larger --ring helps)", "overwritten by newer ones", "ring busy", "session closing",
        "file could not take them",          "writer died in the middle"};
    for (int cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
        if (counts.lost[cause] > 0)
            fmt::print(stderr, "nsdump: warning: {} records lost: {}\n", counts.lost[cause], kCauses[cause]);
}

// Tells what was recorded; true when somebody wrote something.
bool tell(const Options &options, const nsp_recorder_status &status, const std::string &refusal,
          const nsp_session_counts &counts)
{
    if (status.refused > 0)
        fmt::print(stderr, "nsdump: warning: {} process(es) could not take part: {}\n", status.refused, refusal);
    if (status.joined == 0 && status.refused == 0)
        fmt::print(stderr,
                   "nsdump: warning: no process took part: is the program linked with libnsprobe, and built without "
                   "NETSLICE_DISABLE?\n");
    tell_losses(counts);
    fmt::print(stderr, "nsdump: {}: {} records of {} issued, {} process(es), {:.1f} MB\n", options.output, counts.drained,
               counts.issued, status.joined, static_cast<double>(counts.file_bytes) / 1e6);
    return status.joined > 0 && status.refused == 0;
}

nslice_end end_of(Ending ending, Child *child)
{
    if (ending == Ending::kWriteError)
        return NSLICE_END_WRITE_ERROR;
    if (child && child->poll() && WIFSIGNALED(*child->poll()) && !was_interrupted())
        return NSLICE_END_KILLED;
    return ending == Ending::kProgramEnded ? NSLICE_END_CLOSED : NSLICE_END_INTERRUPTED;
}

int exit_code(Ending ending, Child *child, bool is_recorded)
{
    if (ending == Ending::kWriteError)
        return kExitOutput;
    if (ending == Ending::kInterrupted)
        return kExitInterrupted;
    const auto status = child ? child->poll() : std::nullopt;
    if (status && WIFSIGNALED(*status))
        return 128 + WTERMSIG(*status);
    if (status && WEXITSTATUS(*status) != 0)
        return WEXITSTATUS(*status);
    return is_recorded ? kExitOk : kExitFindings;
}

int run(const Options &options)
{
    if (options.program.empty() == (options.pid == 0)) {
        fmt::print(stderr, "nsdump record: give either a program after -- or a running process with --pid\n");
        return kExitUsage;
    }
    Recorder recorder = open_recorder(options);
    std::unique_ptr<Child> child;
    if (options.pid != 0) {
        if (nsp_recorder_attach(recorder.get(), options.pid) != 0)
            fail();
    } else {
        nsp_recorder *raw = recorder.get();
        child = std::make_unique<Child>(options.program, [raw] { return nsp_recorder_prepare_exec(raw); });
    }
    const Ending ending = drain(recorder.get(), options, child.get());
    if (child && ending != Ending::kProgramEnded)
        child->terminate();
    nsp_recorder_status status;
    nsp_recorder_status_read(recorder.get(), &status);
    const std::string refusal = status.refusal;
    nsp_session_counts counts{};
    const int error = nsp_recorder_close(recorder.release(), end_of(ending, child.get()), &counts);
    const bool is_recorded = tell(options, status, refusal, counts);
    if (error != 0) {
        fmt::print(stderr, "nsdump: {}\n", nsp_last_error());
        return kExitOutput;
    }
    return exit_code(ending, child.get(), is_recorded);
}

RunCommand add(CLI::App &app)
{
    auto options = std::make_shared<Options>();
    app.add_option("-o,--output", options->output, "trace file to write")->capture_default_str();
    app.add_option("-c,--counters", options->counters, "counters, e.g. instructions,cycles (default: clock only)");
    app.add_option("--source", options->source, "where counters come from")
        ->check(CLI::IsMember({"auto", "rdpmc", "perf-read", "step", "none"}))
        ->capture_default_str();
    app.add_option("--clock", options->clock, "ordered: fenced clock reads")
        ->check(CLI::IsMember({"fast", "ordered"}))
        ->capture_default_str();
    app.add_option("--full", options->full, "when a ring is full: lose the new record, or the oldest")
        ->check(CLI::IsMember({"discard", "overwrite"}))
        ->capture_default_str();
    app.add_option("--ring", options->ring_bytes, "bytes of one CPU's ring, a power of two")
        ->transform(CLI::AsSizeValue(false))
        ->capture_default_str();
    app.add_option("--kind", options->kind, "how rings are written; auto: rseq where the program has it")
        ->check(CLI::IsMember({"auto", "rseq", "atomic"}))
        ->capture_default_str();
    app.add_option("--step-every", options->step_every, "source step: count every n-th unit only")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_flag("--no-calibration", options->no_calibration, "the trace then has raw values only");
    app.add_option("-p,--pid", options->pid, "attach to a process that accepts it (NETSLICE=attach=yes)")
        ->check(CLI::PositiveNumber);
    app.add_option("-d,--duration", options->seconds, "seconds after which recording ends")->check(CLI::PositiveNumber);
    app.add_option("program", options->program, "program and its arguments, after --");
    app.footer("The exit code is the program's own; 128 + n when signal n ended it; 4 when the trace could not be\n"
               "written; 3 when the program could not be started or attached to; 1 when no process took part;\n"
               "130 when interrupted: the trace is whole then, too.");
    return [options] { return run(*options); };
}
} // namespace

const Command kRecord = {"record", "Record a program, or a running process, into a trace", add};
} // namespace nsdump
