// SPDX-License-Identifier: MIT
// workload: the user's capture -> capture files that scenarios run on.
#include "workload.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "mapi_handle.hpp"
#include "scenario.hpp"

namespace mapi_cost
{
namespace
{
constexpr const char *kFilterOf2004 = "src port 2005";
constexpr uint64_t kCopyBytes = 64 << 20;
constexpr size_t kMadePackets = 1024; // full batches that fit easily into the second-level cache

Survey read_whole(const std::string &path, const std::string &filter)
{
    Survey survey;
    survey.path = path;
    survey.filter = filter;
    Device device(path, 1, MAPI_BATCH_MAX);
    Flow all(device);
    Flow matching(device);
    const int packets = all.apply({"PKT_COUNTER"});
    const int bytes = all.apply({"BYTE_COUNTER"});
    matching.apply({"BPF_FILTER", {filter}});
    const int matches = matching.apply({"PKT_COUNTER"});
    all.connect();
    matching.connect();
    device.start();
    while (!all.wait(100))
        stop_if_interrupted();
    survey.packets = all.counter(packets);
    survey.wire_bytes = all.counter(bytes);
    survey.matches = matching.counter(matches);
    survey.link_type = all.link_type();
    const mapi_stat_t stats = device.stats();
    survey.unread_bytes = stats.unread_bytes;
    survey.message = stats.message;
    survey.is_damaged = !survey.message.empty();
    return survey;
}

Workload describe(const std::string &path, const std::vector<Packet> &packets)
{
    Workload workload{path, packets.size()};
    double captured = 0;
    for (const Packet &packet : packets) {
        captured += double(packet.bytes.size());
        workload.buffer_bytes += (sizeof(mapipkt) + packet.bytes.size() + 7) & ~uint64_t{7};
    }
    if (!packets.empty())
        workload.bytes.captured = captured / double(packets.size());
    return workload;
}
} // namespace

Survey survey_capture(const std::string &path, const std::string &name, const std::string &filter)
{
    struct stat status = {};
    const bool is_there =
        path == "-" ? fstat(STDIN_FILENO, &status) == 0 : stat(path.c_str(), &status) == 0;
    if (is_there && !S_ISREG(status.st_mode))
        throw MapiError(
            (path == "-" ? "standard input" : path) +
            (S_ISDIR(status.st_mode)
                 ? ": is a directory (specify a file in it)"
                 : ": is not a regular file, and it is read many times (save it to a file first)"));
    Survey survey = read_whole(path, filter.empty() ? kFilterOf2004 : filter);
    if (filter.empty() && survey.matches == 0)
        survey = read_whole(path, kCommonFilter);
    survey.name = name;
    if (survey.packets == 0)
        throw MapiError(survey.message.empty()
                            ? name + ": contains no packets (measure another capture)"
                            : survey.message);
    return survey;
}

Workloads::Workloads(const Survey &survey, std::string text, uint64_t packets,
                     const TempFolder &folder)
    : survey_(survey), text_(std::move(text)), packets_(packets), folder_(folder)
{
}

const std::vector<Packet> &Workloads::first_packets(bool is_matching)
{
    auto &taken = taken_[is_matching];
    if (taken.empty())
        taken =
            take_packets(survey_.path, is_matching ? survey_.filter : "", {packets_, kCopyBytes});
    return taken;
}

// If no packet passes the filter, the rows run on packets that it rejects.
Workload Workloads::make(Traffic traffic, unsigned frame_bytes)
{
    const bool wants_matching = traffic == Traffic::kMatching || traffic == Traffic::kMadeMatching;
    const std::vector<Packet> &packets = first_packets(wants_matching && survey_.matches > 0);
    if (frame_bytes > 0) {
        const auto made = make_packets(packets, survey_.link_type, frame_bytes, kMadePackets);
        Workload workload = describe(folder_.file("made-" + std::to_string(frame_bytes) +
                                                  (wants_matching ? "m" : "") + ".pcap"),
                                     made);
        workload.is_uniform = true;
        workload.bytes.searched = searched_bytes(made, text_);
        write_capture(workload.path, made, survey_.link_type);
        for (unsigned i = 0; i < 9; ++i)
            absent_[workload.path].push_back(absent_string(made, i));
        return workload;
    }
    // A damaged file cannot be repeated, and the first packets of a long one are enough.
    const bool needs_copy =
        wants_matching || survey_.is_damaged || survey_.packets > packets.size();
    Workload workload = describe(
        needs_copy ? folder_.file(wants_matching ? "matching.pcap" : "first.pcap") : survey_.path,
        packets);
    if (needs_copy)
        write_capture(workload.path, packets, survey_.link_type);
    return workload;
}

const Workload &Workloads::workload(Traffic traffic, unsigned frame_bytes)
{
    const auto key = std::make_pair(traffic, frame_bytes);
    const auto found = made_.find(key);
    return found != made_.end() ? found->second
                                : made_.emplace(key, make(traffic, frame_bytes)).first->second;
}

Load Workloads::load(const Scenario &scenario, unsigned flows, bool reader_waits)
{
    Load load;
    load.is_compared = scenario.is_further();
    load.workload = workload(scenario.traffic, scenario.frame_bytes);
    const auto absent = absent_.find(load.workload.path);
    const CallWords words{survey_.filter, text_,
                          absent == absent_.end() ? std::vector<std::string>() : absent->second,
                          reader_waits};
    for (unsigned flow = 0; flow < flows; ++flow)
        load.flows.push_back(
            calls_of(scenario, scenario.quantity == Quantity::kFurtherDifferent ? flow : 0, words));
    return load;
}
} // namespace mapi_cost
