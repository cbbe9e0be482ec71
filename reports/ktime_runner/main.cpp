// SPDX-License-Identifier: MIT
// ktime-runner --check: whether this process can measure; the reason on standard error.
// ktime-runner NEAR FAR [TIMEOUT_MS]: runs of the XDP programs of ktime.bpf.c on FAR, on packets
// sent from NEAR, for nsreport, which asks for them by lines on standard input and ends it by
// closing that.  Each line is answered by one of JSON.
//
//   run VARIANT PACKETS BEFORE   load, attach, send packets one by one, read the times, detach;
//                                BEFORE is done before each packet but the first (cold.hpp)
//   pauses                       how much interrupts and the hypervisor take
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/command/tell.hpp"
#include "reports/ktime_runner/attached_program.hpp"
#include "reports/ktime_runner/cold.hpp"
#include "reports/ktime_runner/icmp_sender.hpp"
#include "reports/ktime_runner/requirements.hpp"

namespace ktime_runner
{
namespace
{
using Json = nlohmann::ordered_json;
constexpr int kUsage = 2, kRefused = 3;
constexpr std::chrono::microseconds kLook(50);

struct Setup {
    std::string near, far;
    std::chrono::milliseconds timeout{1000};
};

// Returns the statistics once a run has been added, or those at the timeout.
RunStatistics wait_for_run(const LoadedProgram &program, uint64_t runs, const Setup &setup)
{
    const auto end = std::chrono::steady_clock::now() + setup.timeout;
    RunStatistics now = program.statistics();
    while (now.runs == runs && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(kLook);
        now = program.statistics();
    }
    return now;
}

// Times of each packet; shorter than asked for if one did not arrive.
Json run(const Setup &setup, const IcmpSender &sender, Cold &cold, const std::string &variant,
         unsigned packets, Before before)
{
    const LoadedProgram program(variant);
    const Attachment attachment(program, setup.far);
    Json run_ns = Json::array(), clock_ns = Json::array();
    uint64_t others = 0, sent = 0;
    RunStatistics last = program.statistics();
    for (; sent < packets; ++sent) {
        if (before == Before::kTestRun)
            program.test_run(sender.packet().data(), uint32_t(sender.packet().size()));
        else if (sent > 0)
            cold.make(before);
        last = before == Before::kTestRun ? program.statistics() : last;
        sender.send();
        const RunStatistics now = wait_for_run(program, last.runs, setup);
        if (now.runs == last.runs) {
            ++sent;
            break;
        }
        others += now.runs - last.runs - 1;
        run_ns.push_back(now.time_ns - last.time_ns);
        if (program.has_event())
            clock_ns.push_back(program.event().processing_time_ns);
        last = now;
    }
    return {{"sent", sent},
            {"mode", attachment.mode()},
            {"run_ns", run_ns},
            {"clock_ns", clock_ns},
            {"others", others}};
}

Json watch_pauses(const LoadedProgram &program, const IcmpSender &sender)
{
    program.test_run(sender.packet().data(), uint32_t(sender.packet().size()));
    const ktime_pauses seen = program.pauses();
    return {{"watched_ns", seen.watched_ns},
            {"lost_ns", seen.lost_ns},
            {"pauses", seen.pauses},
            {"longest_ns", seen.longest_ns}};
}

bool print(const Json &line)
{
    const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

void check()
{
    require_capabilities();
    const StatisticsOn statistics;
}

void serve(const Setup &setup)
{
    require_capabilities();
    const StatisticsOn statistics;
    const IcmpSender sender(setup.near);
    const LoadedProgram pause("pause");
    Cold cold;
    bool is_read = print({{"pause_ns", KTIME_PAUSE_NS}, {"summed_bytes", KTIME_SUMMED_BYTES}});
    std::string line;
    while (is_read && std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string word, variant, name;
        unsigned packets = 0;
        if (line == "pauses") {
            is_read = print(watch_pauses(pause, sender));
            continue;
        }
        words >> word >> variant >> packets >> name;
        const auto before = before_of(name);
        if (word != "run" || packets == 0 || !before)
            throw Refusal("cannot be understood: \"" + line + "\"");
        is_read = print(run(setup, sender, cold, variant, packets, *before));
    }
}

int usage()
{
    command::tell("ktime-runner: usage: ktime-runner NEAR FAR [TIMEOUT_MS], or --check\n");
    return kUsage;
}
} // namespace
} // namespace ktime_runner

int main(int argc, char **argv)
{
    using namespace ktime_runner;
    command_keep_standard_files();
    command_ignore_write_signals();
    const bool only_checks = argc == 2 && std::string_view(argv[1]) == "--check";
    if (!only_checks && (argc < 3 || argc > 4))
        return usage();
    Setup setup{argv[1], only_checks ? "" : argv[2]};
    if (argc == 4) {
        const std::string_view text = argv[3];
        int timeout_ms = 0;
        std::from_chars(text.data(), text.data() + text.size(), timeout_ms);
        if (timeout_ms <= 0)
            return usage();
        setup.timeout = std::chrono::milliseconds(timeout_ms);
    }
    try {
        only_checks ? check() : serve(setup);
        return 0;
    } catch (const std::exception &error) {
        command::tell("ktime-runner: {}\n", error.what());
        return kRefused;
    }
}
