// SPDX-License-Identifier: MIT
// mapi-reader METHOD DEVICE [WORK...]: one reader of packets, for nsreport, which asks it for its
// counts and CPU time by an empty line on standard input, or "matched", and ends it by closing
// that.  "statistics" turns the kernel's run statistics of BPF programs on, until it ends.
//
//   mapi  DEVICE FLOW...                   MAPI flows; packets of TO_BUFFER are read and discarded
//   grow  DEVICE FLOW...                   the same; a line with a number connects that many in all
//   read  INTERFACE [filter:F|string:S]... a packet socket, one recvfrom() per packet
//   mmap  INTERFACE [filter:F|string:S]... libpcap
//   none                                   no reader, only the counters
#include <charconv>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/command/tell.hpp"
#include "mapi_reader/clocks.hpp"
#include "mapi_reader/mapi_flows.hpp"
#include "mapi_reader/pcap_reader.hpp"
#include "mapi_reader/run_statistics.hpp"
#include "mapi_reader/softirq_meter.hpp"

namespace mapi_reader
{
namespace
{
using Json = nlohmann::ordered_json;
constexpr int kUsage = 2, kRefused = 3;

class NoReader : public Reader
{
public:
    Counts counts() override { return {}; }
    uint64_t matched() override { return 0; }
    std::string place() override { return ""; }
};

class UsageError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

std::unique_ptr<PacketWork> work_of(const std::vector<std::string> &words)
{
    constexpr std::string_view kFilter = "filter:", kString = "string:";
    std::vector<std::string> filters, strings;
    for (const std::string &word : words) {
        if (word.starts_with(kFilter))
            filters.push_back(word.substr(kFilter.size()));
        else if (word.starts_with(kString))
            strings.push_back(word.substr(kString.size()));
        else
            throw UsageError("\"" + word + "\" is neither filter:F nor string:S");
    }
    return std::make_unique<PacketWork>(filters, strings);
}

std::unique_ptr<Reader> open_reader(const std::vector<std::string> &words)
{
    if (words.size() == 1 && words[0] == "none")
        return std::make_unique<NoReader>();
    if (words.size() < 2)
        throw UsageError("usage: mapi-reader mapi|grow|read|mmap DEVICE [WORK...], or none");
    const std::vector<std::string> work(words.begin() + 2, words.end());
    if (words[0] == "mapi" || words[0] == "grow") {
        auto flows = std::make_unique<MapiFlows>(words[1], work);
        flows->connect(words[0] == "mapi" ? work.size() : 0);
        return flows;
    }
    if (words[0] == "read" || words[0] == "mmap")
        return read_packets(words[0] == "read" ? Method::kRead : Method::kMmap, words[1],
                            work_of(work));
    throw UsageError("unknown method \"" + words[0] +
                     "\" (available: mapi, grow, read, mmap, none)");
}

// False if nobody reads it.
bool print(const Json &line)
{
    const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

std::optional<size_t> number_in(const std::string &line)
{
    size_t number = 0;
    const auto read = std::from_chars(line.data(), line.data() + line.size(), number);
    return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

void serve(Reader &reader)
{
    const Instructions instructions;
    const SoftirqMeter softirq;
    bool is_read = print({{"place", reader.place()},
                          {"ticks_per_s", ticks_per_s()},
                          {"instructions", instructions.why_not()},
                          {"softirq", softirq.why_not()}});
    std::optional<RunStatistics> statistics;
    std::string line;
    while (is_read && std::getline(std::cin, line)) {
        if (const auto flows = number_in(line))
            reader.connect(*flows);
        if (line == "statistics" && !statistics)
            statistics.emplace();
        const Counts counts = reader.counts();
        const auto count = instructions.read();
        Json answer = {{"received", counts.received},
                       {"dropped", counts.dropped},
                       {"cpu_ns", process_ns()},
                       {"softirq_ns", softirq.read_ns()},
                       {"instructions", count ? Json(*count) : Json()}};
        if (line == "matched") // takes longer with many flows
            answer["matched"] = reader.matched();
        if (statistics)
            answer["run_statistics"] = statistics->why_not();
        if (!line.empty())
            answer["place"] = reader.place();
        is_read = print(answer);
    }
}
} // namespace
} // namespace mapi_reader

int main(int argc, char **argv)
{
    command_keep_standard_files();
    command_ignore_write_signals();
    try {
        mapi_reader::serve(*mapi_reader::open_reader({argv + 1, argv + argc}));
        return 0;
    } catch (const mapi_reader::UsageError &error) {
        command::tell("mapi-reader: {}\n", error.what());
        return mapi_reader::kUsage;
    } catch (const std::exception &error) {
        command::tell("mapi-reader: {}\n", error.what());
        return mapi_reader::kRefused;
    }
}
