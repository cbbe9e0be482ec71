// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes -> a complete analysis and all its exports, without a crash.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "analyse/analyse.hpp"
#include "decode/error.hpp"
#include "export/exporter.hpp"
#include "fuzz/sealed_trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    std::vector<std::byte> bytes(size);
    if (size > 0)
        std::memcpy(bytes.data(), data, size);
    if (size > 0 && data[size - 1] % 4 != 0)
        fuzz::seal(bytes);
    try {
        nsdump::TraceFile trace(nsdump::bytes_in_memory(std::move(bytes), "fuzz.nsl"));
        nsdump::AnalyseOptions options;
        options.threads = 1; // starting another would take a quarter of the time
        const nsdump::StatsReport report = nsdump::analyse_trace(trace, options);
        nsdump::stats_json(report);
        nsdump::stats_csv(report);
        nsdump::stats_text(report);
    } catch (const nsdump::TraceError &) {
        // refused with a message, as expected
    }
    return 0;
}
