// SPDX-License-Identifier: MIT
// result_json: a function's result -> JSON.
#include "result_json.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

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
using Json = nlohmann::ordered_json;

// Seconds since 1970 as text, because a double cannot hold nanoseconds; null if the time is
// unknown.
Json time_json(uint64_t ntp)
{
    return ntp == 0 ? Json(nullptr) : Json(time_text(ntp));
}

Json stats_json(const mapi_results_t &results)
{
    const auto stats = copy_of<mapi_value_stats_t>(results);
    Json json = {{"count", stats.count}};
    if (stats.count > 0)
        json.update({{"mean", double(stats.sum) / double(stats.count)},
                     {"min", stats.min},
                     {"max", stats.max},
                     {"sum", double(stats.sum)},
                     {"sum2", double(stats.sum2)}});
    return json;
}

Json dist_json(const mapi_results_t &results)
{
    const auto *const dist = static_cast<const mapi_dist_t *>(results.res);
    Json json = {{"min", dist->min},
                 {"max", dist->max},
                 {"below", dist->data[dist->intervals + 1]},
                 {"above", dist->data[dist->intervals]}};
    Json counts = Json::array();
    for (uint64_t i = 0; i < dist->intervals; ++i)
        counts.push_back(dist->data[i] - (i == 0 ? dist->data[dist->intervals + 1] : 0));
    json["intervals"] = std::move(counts);
    return json;
}

Json top_json(const mapi_results_t &results)
{
    const auto *const top = static_cast<const mapi_top_t *>(results.res);
    Json json = Json::array();
    for (uint32_t i = 0; i < top->rows; ++i) {
        const topx_result row = top->row[i];
        const uint32_t value = row.value;
        Json name = value;
        if (row.family == AF_INET6 || row.family == AF_INET)
            name = row.family == AF_INET6 ? address_text(AF_INET6, &row.addr6)
                                          : address_text(AF_INET, &value);
        json.push_back({{"value", std::move(name)},
                        {"packets", uint64_t(row.count)},
                        {"bytes", uint64_t(row.bytecount)}});
    }
    return json;
}

Json burst_json(const mapi_results_t &results)
{
    const auto *const categories = static_cast<const mapi_burst_category_t *>(results.res);
    Json json = Json::array();
    for (size_t i = 0; i < size_t(results.size) / sizeof(*categories); ++i) {
        const mapi_burst_category_t &category = categories[i];
        json.push_back({{"bursts", category.bursts},
                        {"packets", category.packets},
                        {"bytes", category.bytes},
                        {"gaps", category.gaps},
                        {"gap_bytes", category.gap_bytes}});
    }
    return json;
}

Json perf_json(const mapi_results_t &results)
{
    const auto perf = copy_of<mapi_perf_t>(results);
    return {{"packets", perf.packets},
            {"calls", perf.calls},
            {"ticks", perf.ticks},
            {"ticks_ci95", perf.ticks_ci95},
            {"ticks_per_second", perf.ticks_per_second},
            {"counted_calls", perf.counted_calls},
            {"instructions", perf.instructions},
            {"cycles", perf.cycles},
            {"cycles_ci95", perf.cycles_ci95},
            {"source", std::string(perf.source, strnlen(perf.source, sizeof(perf.source)))}};
}

Json startstop_json(const mapi_results_t &results)
{
    const auto times = copy_of<mapi_startstop_t>(results);
    return {{"first", time_json(times.first)},
            {"first_processed", time_json(times.first_processed)},
            {"last_processed", time_json(times.last_processed)}};
}

Json sample_json(const mapi_results_t &results)
{
    const auto sample = copy_of<mapi_sample_t>(results);
    return {{"time", time_json(sample.timestamp)},
            {"source", address_text(sample.family, sample.source)},
            {"source_port", sample.source_port},
            {"destination", address_text(sample.family, sample.destination)},
            {"destination_port", sample.destination_port},
            {"protocol", sample.protocol},
            {"tcp_flags", sample.tcp_flags},
            {"sequence", sample.sequence}};
}

Json selected_json(const mapi_results_t &results)
{
    const auto selected = copy_of<mapi_selected_t>(results);
    return {{"time", time_json(selected.timestamp)},
            {"source", address_text(selected.family, selected.source)},
            {"source_port", selected.source_port},
            {"destination", address_text(selected.family, selected.destination)},
            {"destination_port", selected.destination_port},
            {"protocol", selected.protocol},
            {"hop_limit", selected.hop_limit},
            {"bytes", selected.wire_len},
            {"hash", selected.hash},
            {"digest", fmt::format("{:016x}", selected.digest)}};
}

Json flow_json(const flow_data &flow, const mapi_flow_more &more)
{
    const int family = flow.version == 4 ? AF_INET : AF_INET6;
    Json json = {{"time", time_json(flow.timestamp)},
                 {"source", address_text(family, more.source)},
                 {"source_port", flow.sport},
                 {"destination", address_text(family, more.destination)},
                 {"destination_port", flow.dport},
                 {"protocol", flow.ptcl},
                 {"packets", flow.packets_count},
                 {"bytes", flow.bytes_count},
                 {"ttl", flow.ttl_pkt1}};
    if (flow.has_place)
        json.update({{"vlan", more.vlan}, {"interface", more.interface}});
    return json;
}

Json expired_flows_json(const mapi_results_t &results)
{
    const auto *const totals = static_cast<const flows_stat *>(results.res);
    const auto counts = expired_flows_counts(*totals);
    Json json = Json::object();
    for (size_t i = 0; i < counts.size(); ++i)
        json[std::string(expired_flows_names()[i])] = counts[i];
    json["flows"] = Json::array();
    for (uint32_t i = 0; i < totals->sent; ++i)
        json["flows"].push_back(
            flow_json(mapi_flows_of(totals)[i], mapi_flows_more_of(totals)->flow[i]));
    return json;
}

// BUCKET and THRESHOLD have the same result layout.
Json timed_value_json(const mapi_results_t &results)
{
    const auto bucket = copy_of<mapi_bucket_t>(results);
    return {{"time", time_json(bucket.timestamp)}, {"value", bucket.data}};
}

Json words_json(const mapi_results_t &results)
{
    if (results.size <= int(sizeof(uint64_t)))
        return copy_of<uint64_t>(results);
    if (size_t(results.size) % sizeof(uint64_t) != 0)
        return hex_text(results.res, size_t(results.size));
    const auto *const words = static_cast<const uint64_t *>(results.res);
    return std::vector<uint64_t>(words, words + size_t(results.size) / sizeof(uint64_t));
}
} // namespace

Json result_json(const std::string &function, const mapi_results_t &results)
{
    static const std::map<std::string, Json (*)(const mapi_results_t &)> kinds = {
        {"STATS", stats_json},
        {"DIST", dist_json},
        {"TOP", top_json},
        {"BURST", burst_json},
        {"PERF_STOP", perf_json},
        {"STARTSTOP", startstop_json},
        {"HASHSAMP", sample_json},
        {"PKTSELECT", selected_json},
        {"BUCKET", timed_value_json},
        {"THRESHOLD", timed_value_json},
        {"EXPIRED_FLOWS", expired_flows_json}};
    if (const auto names = count_names(function); !names.empty()) {
        Json json = Json::object();
        const auto *const counts = static_cast<const uint64_t *>(results.res);
        for (size_t i = 0; i < std::min(names.size(), size_t(results.size) / sizeof(uint64_t)); ++i)
            json[std::string(names[i])] = counts[i];
        return json;
    }
    const auto found = kinds.find(function);
    return found == kinds.end() ? words_json(results) : found->second(results);
}

Json packet_json(const mapipkt &packet)
{
    return {{"time", time_json(packet.ts)},
            {"interface", packet.ifindex},
            {"caplen", packet.caplen},
            {"wire_len", packet.wlen},
            {"data", hex_text(&packet.pkt, packet.caplen)}};
}
} // namespace mapi_flow
