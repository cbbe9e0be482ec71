// SPDX-License-Identifier: MIT
// result_text: a function's result -> text.
#include "result_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string_view>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <mapi/expiredflowshash.h>
#include <mapi/topx.h>

#include "count_names.hpp"
#include "result_words.hpp"

namespace mapi_flow
{
namespace
{
// "name=count", for as many as both lists have.
template <class Count>
std::string counts_text(std::span<const std::string_view> names, std::span<const Count> counts)
{
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), counts.size()); ++i)
        text += fmt::format("{}{}={}", i ? " " : "", names[i], counts[i]);
    return text;
}

std::string stats_text(const mapi_results_t &results)
{
    const auto stats = copy_of<mapi_value_stats_t>(results);
    if (stats.count == 0)
        return "count=0";
    return fmt::format("count={} mean={:.3f} min={} max={} sum={:.0f}", stats.count,
                       double(stats.sum) / double(stats.count), stats.exact_min, stats.exact_max,
                       double(stats.sum));
}

std::string dist_text(const mapi_results_t &results)
{
    const auto *const dist = static_cast<const mapi_dist_t *>(results.res);
    std::string text = fmt::format("min={} max={} below={} above={}", dist->min, dist->max,
                                   dist->data[dist->intervals + 1], dist->data[dist->intervals]);
    for (uint64_t i = 0; i < dist->intervals; ++i)
        text += dist->data[i]
                    ? fmt::format(" [{}]={}", i,
                                  dist->data[i] - (i == 0 ? dist->data[dist->intervals + 1] : 0))
                    : "";
    return text;
}

std::string top_text(const mapi_results_t &results)
{
    const auto *const top = static_cast<const mapi_top_t *>(results.res);
    std::string text;
    for (uint32_t i = 0; i < top->rows; ++i) {
        const topx_result row = top->row[i];
        const uint32_t value = row.value;
        const std::string name = row.family == AF_INET6  ? address_text(AF_INET6, &row.addr6)
                                 : row.family == AF_INET ? address_text(AF_INET, &value)
                                                         : fmt::to_string(value);
        text += fmt::format("{}{}: {} packets {} bytes", i ? ", " : "", name, uint64_t(row.count),
                            uint64_t(row.bytecount));
    }
    return text;
}

std::string burst_text(const mapi_results_t &results)
{
    const auto *const categories = static_cast<const mapi_burst_category_t *>(results.res);
    std::string text;
    for (size_t i = 0; i < size_t(results.size) / sizeof(*categories); ++i) {
        const mapi_burst_category_t &category = categories[i];
        if (category.bursts || category.gaps)
            text += fmt::format("{}[{}] bursts={} packets={} bytes={} gaps={} gap_bytes={}",
                                text.empty() ? "" : ", ", i, category.bursts, category.packets,
                                category.bytes, category.gaps, category.gap_bytes);
    }
    return text;
}

std::string perf_text(const mapi_results_t &results)
{
    const auto perf = copy_of<mapi_perf_t>(results);
    const double packets = double(perf.packets ? perf.packets : 1);
    std::string text =
        fmt::format("packets={} calls={} ticks_per_packet={:.2f} ±{:.2f}", perf.packets, perf.calls,
                    double(perf.ticks) / packets, double(perf.ticks_ci95) / packets);
    if (perf.ticks_per_second)
        text += fmt::format(" ns_per_packet={:.2f}",
                            double(perf.ticks) / packets * 1e9 / double(perf.ticks_per_second));
    if (perf.counted_calls)
        text += fmt::format(" instructions_per_packet={:.2f} cycles_per_packet={:.2f} ±{:.2f}",
                            double(perf.instructions) / packets, double(perf.cycles) / packets,
                            double(perf.cycles_ci95) / packets);
    return text + fmt::format(" counters={}", perf.source);
}

std::string startstop_text(const mapi_results_t &results)
{
    const auto times = copy_of<mapi_startstop_t>(results);
    return fmt::format("first={} first_passed={} last_passed={}", time_text(times.first),
                       time_text(times.first_processed), time_text(times.last_processed));
}

std::string sample_text(const mapi_results_t &results)
{
    const auto sample = copy_of<mapi_sample_t>(results);
    return fmt::format("{} {} {} > {} {} protocol={} flags={:#x} sequence={}",
                       time_text(sample.timestamp), address_text(sample.family, sample.source),
                       sample.source_port, address_text(sample.family, sample.destination),
                       sample.destination_port, sample.protocol, sample.tcp_flags, sample.sequence);
}

std::string selected_text(const mapi_results_t &results)
{
    const auto selected = copy_of<mapi_selected_t>(results);
    return fmt::format("{} {} {} {} {} protocol={} hop_limit={} bytes={} hash={} digest={:016x}",
                       time_text(selected.timestamp),
                       address_text(selected.family, selected.source), selected.source_port,
                       address_text(selected.family, selected.destination),
                       selected.destination_port, selected.protocol, selected.hop_limit,
                       selected.wire_len, selected.hash, selected.digest);
}

std::string flow_text(const flow_data &flow, const mapi_flow_more &more)
{
    const int family = flow.version == 4 ? AF_INET : AF_INET6;
    return fmt::format("{} {} {} > {} {} protocol={} packets={} bytes={} ttl={}",
                       time_text(flow.timestamp), address_text(family, more.source), flow.sport,
                       address_text(family, more.destination), flow.dport, flow.ptcl,
                       flow.packets_count, flow.bytes_count, flow.ttl_pkt1) +
           (flow.has_place ? fmt::format(" vlan={} interface={}", more.vlan, more.interface) : "");
}

std::string expired_flows_text(const mapi_results_t &results)
{
    const auto *const totals = static_cast<const flows_stat *>(results.res);
    const auto counts = expired_flows_counts(*totals);
    std::string text = counts_text(expired_flows_names(), std::span<const uint32_t>(counts));
    for (uint32_t i = 0; i < totals->sent; ++i)
        text += ", " + flow_text(mapi_flows_of(totals)[i], mapi_flows_more_of(totals)->flow[i]);
    return text;
}

// BUCKET and THRESHOLD have the same result layout.
std::string timed_value_text(const mapi_results_t &results)
{
    const auto bucket = copy_of<mapi_bucket_t>(results);
    return fmt::format("{} {}", time_text(bucket.timestamp), bucket.data);
}

std::string words_text(const mapi_results_t &results)
{
    if (results.size <= int(sizeof(uint64_t)))
        return fmt::to_string(copy_of<uint64_t>(results));
    if (size_t(results.size) % sizeof(uint64_t) != 0)
        return hex_text(results.res, size_t(results.size));
    std::string text;
    for (size_t i = 0; i < size_t(results.size) / sizeof(uint64_t); ++i)
        text += fmt::format("{}{}", i ? " " : "", static_cast<const uint64_t *>(results.res)[i]);
    return text;
}
} // namespace

std::string result_text(const std::string &function, const mapi_results_t &results)
{
    static const std::map<std::string, std::function<std::string(const mapi_results_t &)>> texts = {
        {"STATS", stats_text},
        {"DIST", dist_text},
        {"TOP", top_text},
        {"BURST", burst_text},
        {"PERF_STOP", perf_text},
        {"STARTSTOP", startstop_text},
        {"HASHSAMP", sample_text},
        {"PKTSELECT", selected_text},
        {"BUCKET", timed_value_text},
        {"THRESHOLD", timed_value_text},
        {"EXPIRED_FLOWS", expired_flows_text}};
    if (const auto names = count_names(function); !names.empty())
        return counts_text(names, std::span(static_cast<const uint64_t *>(results.res),
                                            size_t(results.size) / sizeof(uint64_t)));
    const auto found = texts.find(function);
    return found == texts.end() ? words_text(results) : found->second(results);
}

std::string packet_text(const mapipkt &packet)
{
    return fmt::format("{} caplen={} wlen={} {}", time_text(packet.ts), packet.caplen, packet.wlen,
                       hex_text(&packet.pkt, packet.caplen));
}
} // namespace mapi_flow
