// SPDX-License-Identifier: MIT
// Recording: mapid's own probes -> a NetSlice trace, by libnsprobe's session.
#include "daemon/recording.hpp"

#include <cerrno>
#include <numeric>

#include <nsprobe/session.h>
#include <spdlog/spdlog.h>

#include "engine/error.hpp"

namespace mapi::daemon
{
std::atomic<bool> Recording::is_taken_ = false;
std::atomic<bool> Recording::is_under_way_ = false;

Recording::Recording(const std::string &name, int file, const std::string &slices) : name_(name)
{
#ifdef NETSLICE_DISABLE
    (void)file;
    (void)slices;
    throw Error(MFUNCT_NOT_SUPPORTED,
                "recording is unavailable: mapid was built without probes (NETSLICE_DISABLE)");
#else
    if (is_taken_.exchange(true))
        throw Error(MAPI_LIMIT_REACHED,
                    "mapid is already being recorded (one recording at a time)");
    nsp_session_config config = {};
    config.struct_size = sizeof(config);
    config.output = name_.c_str();
    config.has_file = file >= 0;
    config.file = file;
    config.slices = slices.c_str();
    config.control = 1;
    if (const int error = nsp_session_open(&config); error != 0) {
        is_taken_ = false;
        throw Error(error == -EINVAL ? MFUNCT_INVALID_ARGUMENT : MAPI_ERROR_FILE,
                    std::string("cannot record mapid: ") + nsp_last_error());
    }
    is_under_way_ = true;
    spdlog::info("recording: {}: started", name_);
#endif
}

RecordingEnd Recording::end()
{
    RecordingEnd end;
    if (has_ended_)
        return end;
    has_ended_ = true;
    is_under_way_ = false;
    nsp_session_counts counts = {};
    if (nsp_session_close(&counts) != 0)
        end.error = nsp_last_error();
    is_taken_ = false;
    end.records = counts.drained;
    end.lost = std::accumulate(std::begin(counts.lost), std::end(counts.lost), uint64_t{0});
    end.file_bytes = counts.file_bytes;
    spdlog::info("recording: {}: {} records, {} lost, {} bytes", name_, end.records, end.lost,
                 end.file_bytes);
    if (!end.error.empty())
        spdlog::warn("recording: {}", end.error);
    return end;
}

Recording::~Recording()
{
    end();
}
} // namespace mapi::daemon
