// SPDX-License-Identifier: MIT
// record: a duration -> the trace of mapid's probes in it.  The file is opened here, with this
// program's permissions.
#include "record.hpp"

#include <cerrno>
#include <chrono>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/command/counted.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/status_line.hpp"
#include "common/command/tell.hpp"
#include "common/file_error/file_error.h"
#include "engine/error.hpp"
#include "ipc/descriptor.hpp"

namespace mapi_info
{
namespace
{
using Clock = std::chrono::steady_clock;
constexpr int kPauseMs = 50;

// A file that was created here is removed again if nothing is recorded into it.
class TraceFile
{
public:
    explicit TraceFile(const std::string &path) : path_(path)
    {
        // readable, since mapid checks whether an existing file is a trace
        const int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_CREAT;
        file_ = mapi::ipc::Descriptor(open(path.c_str(), flags | O_EXCL, 0644));
        is_new_ = file_.is_open();
        if (!is_new_ && errno == EEXIST)
            file_ = mapi::ipc::Descriptor(open(path.c_str(), flags, 0644));
        struct stat status = {};
        if (!file_.is_open() || fstat(file_.number(), &status) < 0)
            throw command::OutputError(path + ": cannot open: " + nslice_write_error(errno));
        if (!S_ISREG(status.st_mode))
            throw command::OutputError(
                path + ": is not a regular file, which mapid requires (specify one)");
    }
    ~TraceFile()
    {
        if (is_new_ && !is_begun_)
            unlink(path_.c_str());
    }
    TraceFile(const TraceFile &) = delete;
    TraceFile &operator=(const TraceFile &) = delete;

    int number() const { return file_.number(); }
    void keep() { is_begun_ = true; }
    double megabytes() const
    {
        struct stat status = {};
        return fstat(file_.number(), &status) == 0 ? double(status.st_size) / 1e6 : 0;
    }

private:
    const std::string path_;
    mapi::ipc::Descriptor file_;
    bool is_new_ = false;
    bool is_begun_ = false;
};

// False: mapid has exited.
bool wait(const Mapid &mapid, const TraceFile &file, const Options &options)
{
    command::StatusLine line(!options.is_quiet);
    const double seconds = options.seconds;
    const auto begin = Clock::now();
    const auto elapsed_s = [&] {
        return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    while (!command_was_interrupted() && (seconds == 0 || elapsed_s() < seconds)) {
        if (!mapid.is_alive())
            return false;
        line.show(fmt::format("recording {:.1f} s, {:.1f} MB; Ctrl-C to stop", elapsed_s(),
                              file.megabytes()));
        command_pause(seconds == 0 ? kPauseMs
                                   : std::min(kPauseMs, int((seconds - elapsed_s()) * 1000) + 1));
    }
    return true;
}
} // namespace

int record(Mapid &mapid, const Options &options)
{
    TraceFile file(options.trace);
    command_catch_interrupts();
    mapid.start_recording(options.trace, options.slices, file.number());
    file.keep();
    if (!wait(mapid, file, options)) {
        command::tell("mapi-info: {}: mapid has exited; the trace ends there\n", options.trace);
        return kExitFindings;
    }
    const mapi::ipc::Recorded recorded = mapid.stop_recording();
    if (!options.is_quiet)
        command::tell("mapi-info: {}: {}, {:.1f} MB\n", options.trace,
                      command::counted(recorded.records(), "record"),
                      double(recorded.file_bytes()) / 1e6);
    if (recorded.lost() > 0)
        command::tell("mapi-info: {}: {} lost (`nsdump stats` shows why)\n", options.trace,
                      command::counted(recorded.lost(), "record was", "records were"));
    if (!recorded.error().empty())
        command::tell("mapi-info: {}\n", recorded.error());
    return recorded.lost() > 0 || !recorded.error().empty() ? kExitFindings : kExitOk;
}
} // namespace mapi_info
