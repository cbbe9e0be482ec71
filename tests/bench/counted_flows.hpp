// SPDX-License-Identifier: MIT
// Counted flows: rules -> a flow for each on a capture file, with a counter, and the CPU time of
// the run.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <mapi/mapi.h>
#include <unistd.h>

#include "figure.hpp"

namespace bench
{
constexpr size_t kFileHeaderBytes = 24;

[[noreturn]] inline void fail(const std::string &what)
{
    char why[MAPI_ERROR_TEXT_BYTES] = "";
    mapi_read_error(nullptr, why);
    std::cerr << what << ": " << why << '\n';
    std::exit(1);
}

struct Counted {
    double seconds = 0;
    uint64_t packets = 0;         // of the capture
    std::vector<uint64_t> passed; // of each flow
};

struct Rule {
    std::string filter = {};  // empty: no filter
    std::string pattern = {}; // of STR_SEARCH; empty: none
    std::string options = {}; // of MATCH; empty: none
};

// A flow for each rule, followed by a counter.
inline Counted run(const std::string &capture, const std::vector<Rule> &rules)
{
    char *device = mapi_create_offline_device(capture.c_str(), MFF_PCAP);
    if (!device)
        fail(capture);
    std::vector<std::pair<int, int>> flows;
    for (const Rule &rule : rules) {
        const int flow = mapi_create_flow(device);
        if (!rule.filter.empty() &&
            mapi_apply_function(flow, "BPF_FILTER", rule.filter.c_str()) < 0)
            fail(rule.filter);
        if (!rule.pattern.empty() &&
            mapi_apply_function(flow, "STR_SEARCH", rule.pattern.c_str(), 0, 0) < 0)
            fail(rule.pattern);
        if (!rule.options.empty() && mapi_apply_function(flow, "MATCH", rule.options.c_str()) < 0)
            fail(rule.options);
        const int counter = mapi_apply_function(flow, "PKT_COUNTER");
        if (counter < 0 || mapi_connect(flow) < 0)
            fail(device);
        flows.emplace_back(flow, counter);
    }
    if (mapi_start_offline_device(device) < 0)
        fail(device);
    const double begin =
        cpu_s(); // includes the packet thread's preparations before the first packet
    Counted counted;
    if (mapi_wait_flow(flows.front().first, -1) < 0)
        fail(device);
    counted.seconds = cpu_s() - begin;
    for (const auto &[flow, counter] : flows)
        counted.passed.push_back(
            *static_cast<uint64_t *>(mapi_read_results_pointer(flow, counter, MAPI_REF)));
    mapi_stat stats = {};
    mapi_stats(device, &stats);
    counted.packets = stats.ps_recv;
    for (const auto &flow : flows)
        mapi_close_flow(flow.first);
    mapi_delete_offline_device(device);
    return counted;
}

// A capture without packets: a run over it takes only the start-up time.
class EmptyCapture
{
public:
    explicit EmptyCapture(const std::string &like)
    {
        const int file = mkstemp(path_.data());
        char header[kFileHeaderBytes] = {};
        if (file < 0 || !std::ifstream(like, std::ios::binary).read(header, sizeof(header)) ||
            write(file, header, sizeof(header)) != ssize_t(sizeof(header)))
            fail(path_);
        close(file);
    }
    ~EmptyCapture() { unlink(path_.c_str()); }
    EmptyCapture(const EmptyCapture &) = delete;
    EmptyCapture &operator=(const EmptyCapture &) = delete;
    const std::string &path() const { return path_; }

private:
    std::string path_ = "/tmp/sharing_bench.XXXXXX";
};
} // namespace bench
