// SPDX-License-Identifier: MIT
// session: one libnsprobe session with its trace in the temporary folder.
#include "session.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <utility>

#include <unistd.h>

#include "decode/file_reader.hpp"

namespace mapi_cost
{
std::string in_terms_of_program(std::string text)
{
    const std::pair<std::string, std::string> terms[] = {
        {"omit the counters", "use --no-instructions"}, {"source=", "--source "}};
    for (const auto &[theirs, ours] : terms)
        for (size_t at = text.find(theirs); at != std::string::npos;
             at = text.find(theirs, at + ours.size()))
            text.replace(at, theirs.size(), ours);
    return text;
}

namespace
{
constexpr uint64_t kLeastRingBytes = 4 << 20;
constexpr uint64_t kMostRingBytes = 128 << 20;
constexpr uint64_t kRecordBytes = 24; // with one counter

void open_session(const nsp_session_config &config)
{
    if (nsp_session_open(&config) != 0)
        throw SessionError(in_terms_of_program(nsp_last_error()));
}
} // namespace

Session::Session(const SessionRequest &request, const RunSettings &settings,
                 const TempFolder &folder)
    : trace_(folder.file("trace.nsl"))
{
    nsp_session_config config = {};
    config.struct_size = sizeof(config);
    config.output = trace_.c_str();
    config.clock = settings.clock;
    config.ring_bytes =
        std::bit_ceil(std::clamp(request.records * kRecordBytes, kLeastRingBytes, kMostRingBytes));
    config.thin_permille = request.is_thinned ? NSP_THIN_AUTO_PERMILLE : 0;
    if (request.field == Field::kInstructions) {
        config.counters = "instructions";
        config.source = settings.source;
        config.step_every = uint32_t(request.step_every);
    }
    open_session(config);
    is_open_ = true;
}

Session::~Session()
{
    if (is_open_)
        nsp_session_close(nullptr);
    unlink(trace_.c_str());
}

const std::string &Session::close()
{
    is_open_ = false;
    if (const int error = nsp_session_close(nullptr); error != 0)
        throw SessionError(std::string(nsp_last_error()) +
                           " (set TMPDIR to a folder with free space)");
    return trace_;
}

bool is_stepped(nsp_counter_source source, const TempFolder &folder)
{
    static std::map<nsp_counter_source, bool> known;
    if (const auto found = known.find(source); found != known.end())
        return found->second;
    const std::string trace = folder.file("source.nsl");
    nsp_session_config config = {};
    config.struct_size = sizeof(config);
    config.output = trace.c_str();
    config.counters = "instructions";
    config.source = source;
    config.no_calibration = 1;
    open_session(config);
    nsp_session_close(nullptr);
    const bool result = nsdump::TraceFile(trace).info("counters.source") == "step";
    unlink(trace.c_str());
    return known[source] = result;
}
} // namespace mapi_cost
